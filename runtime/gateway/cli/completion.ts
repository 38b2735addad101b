import { Argument, type Command } from "commander";
import { AGENT } from "../../contract/names.ts";
import type { CommandContext } from "./context.ts";

/** A place in the line, and the words that may follow there. */
type Place = readonly [before: string, words: readonly string[]];

const SHELLS = { bash, zsh, fish } as const;

/** `steward completion bash|zsh|fish`: prints what the shell has to read to complete this command line. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .description("prints completions for a shell, such as: source <(steward completion bash)")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => context.output.text(SHELLS[shell](placesOf(program))));
}

/** The words behind each command, from the commands themselves. */
function placesOf(program: Command): Place[] {
  const places: Place[] = [];
  const walk = (command: Command, before: string): void => {
    const options = command.options.flatMap(({ long }) =>
      long === null || long === undefined ? [] : [long],
    );
    const names = command.commands.map((one) => one.name());
    places.push([before, [...names, ...options, "--help"]]);
    for (const one of command.commands) walk(one, before === "" ? one.name() : `${before} ${one.name()}`);
  };
  walk(program, "");
  return places;
}

function bash(places: readonly Place[]): string {
  const cases = places
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([before, words]) => `    ${before === "" ? "*" : `"${before}"*`}) words="${words.join(" ")}" ;;`);
  return `_${AGENT}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[*]:1:$((COMP_CWORD - 1))}" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${AGENT} ${AGENT}
`;
}

/** zsh runs completions of bash: https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
function zsh(places: readonly Place[]): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(places)}`;
}

function fish(places: readonly Place[]): string {
  const lines = places.map(([before, words]) => {
    const [group, verb] = before.split(" ");
    const condition =
      before === ""
        ? "__fish_use_subcommand"
        : [group, verb]
            .filter((word) => word !== undefined)
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join("; and ");
    return `complete -c ${AGENT} -f -n "${condition}" -a "${words.join(" ")}"`;
  });
  return `${lines.join("\n")}\n`;
}
