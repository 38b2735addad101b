/** One thing that is wrong with a stack's configuration. */
export interface ConfigProblem {
  /** The whole key, for example `steward:sleepAfter`. */
  key: string;
  /** Problem, without any secret. */
  problem: string;
  /** A command to type, or a sentence with commands in backticks. */
  fix: string;
}

/** Formats all problems as one text: a heading, then two lines for each problem. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.flatMap(({ key, problem, fix }) => [`  ${key}: ${problem}`, `    fix: ${fix}`]);
  return [`Invalid stack configuration (stack_config_invalid), ${count}:`, ...lines].join("\n");
}

/** Returns a fix with alternative commands: one of them is enough. */
export function either(...commands: string[]): string {
  return commands.map((command) => `\`${command}\``).join(", or ");
}

/** Returns a fix with commands that are all needed, in this order. */
export function inOrder(...commands: string[]): string {
  return commands.map((command) => `\`${command}\``).join(", then ");
}

/** The known word that an unknown one most likely means; `undefined` when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein's distance: insertions, deletions and substitutions between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const change = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
