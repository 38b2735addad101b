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
