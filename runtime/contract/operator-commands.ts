/** Installation and stack that commands are printed for. The runtime inside a deployment knows neither. */
export interface OperatorPlace {
  /** The stack as the operator names it, such as `dev` or `acme/dev`. Default: the placeholder `<stack>`. */
  stack?: string | undefined;
  /** Start of a Pulumi command: `pulumi`, or a command that runs it under this package's own Node. */
  pulumi: string;
  /** Returns the start of a command of this package: `npm run drift --` or `npx steward-deploy drift`. */
  script(name: string): string;
  /** The stack's settings file, if it is not where the project keeps it. */
  configFile?: string | undefined;
}

/** Form of a configuration value. */
interface ConfigForm {
  secret?: boolean;
  /** The key is a path into a list or an object. */
  path?: boolean;
  /** The value is the name of the file that holds it. */
  file?: boolean;
}

/**
 * Every command that a message tells somebody to type, each complete: with the stack, and with words quoted for a
 * POSIX shell. A word in angle brackets, such as `<value>`, is a placeholder and is not quoted.
 */
export interface OperatorCommands {
  /** The stack, or its placeholder. */
  readonly stack: string;
  /** A command of the Pulumi CLI on this stack: `pulumi <name> -s <stack> <words>`. */
  pulumi(name: string, ...words: string[]): string;
  /** A command of the Pulumi CLI that has no stack: `pulumi <words>`. */
  cli(...words: string[]): string;
  configSet(key: string, value: string, form?: ConfigForm): string;
  configRemove(key: string, form?: Pick<ConfigForm, "path">): string;
  /** A command of this package on this stack: `npm run <name> -- <stack> <words>`. */
  script(name: string, ...words: string[]): string;
  /** A command of this package without a stack: `npm run <name> -- <words>`. */
  tool(name: string, ...words: string[]): string;
}

/** The placeholder of a stack whose name is not known. */
const ANY_STACK = "<stack>";

/** Returns the commands of a place. */
export function operatorCommands(place: OperatorPlace): OperatorCommands {
  const { stack = ANY_STACK, pulumi, script, configFile } = place;
  const line = (start: string, words: readonly string[]): string =>
    [start, ...words.map(shellWord)].join(" ").replace(/ --$/, "");
  const onStack = (words: readonly string[], more: readonly string[]): string =>
    line(pulumi, [...words, "-s", stack, ...more]);
  const config = (name: string, flags: readonly string[], words: readonly string[]): string => {
    const file = configFile === undefined ? [] : ["--config-file", configFile];
    // A value that begins with a dash is not an option.
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

/** Returns the commands where only the stack is known, and not how steward was installed. */
export function commandsOfStack(stack?: string): OperatorCommands {
  return operatorCommands({ stack, pulumi: "pulumi", script: (name) => `npm run ${name} --` });
}

/** Commands as the runtime prints them: it knows neither the stack nor how steward was installed. */
export const UNPLACED: OperatorCommands = commandsOfStack();

/** Quotes a word for a POSIX shell where necessary. A placeholder such as `<value>` is not quoted. */
export function shellWord(word: string): string {
  if (/^(?:[\w@%+=:,./-]|<[^<>]+>)+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
