/** Stack and installation for which commands are printed. */
export interface OperatorPlace {
  /** The stack as the operator names it, such as `dev` or `acme/dev`. Default: the placeholder `<stack>`. */
  stack?: string | undefined;
  /** Command that starts the Pulumi CLI, such as `pulumi` or `npm run pulumi --`. */
  pulumi: string;
  /** Returns the command that starts a script of this package: `npm run drift --` or `npx steward-deploy drift`. */
  script(name: string): string;
  /** Path of the stack's settings file, if not the project's default. */
  configFile?: string | undefined;
}

interface ConfigForm {
  secret?: boolean;
  /** True if `key` is a path to a member of an object or list. */
  path?: boolean;
  /** True if the argument `value` names a file that contains the config value. */
  file?: boolean;
}

/**
 * Shell commands that error messages and notices tell the operator to run. Each command is quoted for a POSIX shell.
 * Unless noted otherwise, it names the stack.
 */
export interface OperatorCommands {
  /** The stack, or its placeholder. */
  readonly stack: string;
  /** Returns a Pulumi command for this stack: `pulumi <name> -s <stack> <words>`. */
  pulumi(name: string, ...words: string[]): string;
  /** Returns a Pulumi command, without adding the stack: `pulumi <words>`. */
  cli(...words: string[]): string;
  configSet(key: string, value: string, form?: ConfigForm): string;
  configRemove(key: string, form?: Pick<ConfigForm, "path">): string;
  /** Returns a command of this package for this stack: `npm run <name> -- <stack> <words>`. */
  script(name: string, ...words: string[]): string;
  /** Returns a command of this package, without adding the stack: `npm run <name> -- <words>`. */
  tool(name: string, ...words: string[]): string;
}

const ANY_STACK = "<stack>";

export function operatorCommands(place: OperatorPlace): OperatorCommands {
  const { stack = ANY_STACK, pulumi, script, configFile } = place;
  const line = (start: string, words: readonly string[]): string =>
    [start, ...words.map(shellWord)].join(" ").replace(/ --$/, "");
  const onStack = (words: readonly string[], more: readonly string[]): string =>
    line(pulumi, [...words, "-s", stack, ...more]);
  const config = (name: string, flags: readonly string[], words: readonly string[]): string => {
    const file = configFile === undefined ? [] : ["--config-file", configFile];
    // Without `--`, the CLI would parse a value that begins with a dash as an option.
    const end = words.some((word) => word.startsWith("-")) ? ["--"] : [];
    return onStack(["config", name], [...file, ...flags, ...end, ...words]);
  };
  return {
    stack,
    pulumi: (name, ...words) => onStack(name.split(" "), words),
    cli: (...words) => line(pulumi, words),
    configSet: (key, value, { secret, path, file } = {}) => {
      const flags = [...(path ? ["--path"] : []), ...(secret ? ["--secret"] : [])];
      return file
        ? `${config("set", flags, [key])} < ${shellWord(value)}`
        : config("set", flags, [key, value]);
    },
    configRemove: (key, { path } = {}) => config("rm", path ? ["--path"] : [], [key]),
    script: (name, ...words) => line(script(name), [stack, ...words]),
    tool: (name, ...words) => line(script(name), words),
  };
}

/** Returns the commands for a stack, assuming the default installation. */
export function commandsOfStack(stack?: string): OperatorCommands {
  return operatorCommands({ stack, pulumi: "pulumi", script: (name) => `npm run ${name} --` });
}

/** Commands in the runtime's messages, with a placeholder for the stack, whose name the runtime does not know. */
export const UNPLACED: OperatorCommands = commandsOfStack();

/** Quotes a word for a POSIX shell if necessary, but not a placeholder such as `<value>`. */
export function shellWord(word: string): string {
  if (/^(?:[\w@%+=:,./-]|<[^<>]+>)+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
