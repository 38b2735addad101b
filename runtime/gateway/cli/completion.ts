import { AGENT } from "../../contract/names.ts";

/** Words that the shell suggests after the words in `before`. */
export type Place = readonly [before: string, words: readonly string[]];

const SHELLS = { bash, zsh, fish } as const;

export function completionScript(shell: keyof typeof SHELLS, places: readonly Place[]): string {
  return SHELLS[shell](places);
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

/** zsh can run bash completions: https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
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
