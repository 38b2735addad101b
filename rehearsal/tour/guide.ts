import { once } from "node:events";
import type { CommandOutput } from "../../infra/shell/command.ts";
import type { Interruption } from "../signals.ts";
import type { Progress } from "../progress.ts";

const WIDTH = 100;

/** Options of {@link Guide}. */
export interface GuideOptions {
  say: CommandOutput["say"];
  progress: Progress;
  interruption: Interruption;
  /** Waits for Enter before each action. */
  waits: boolean;
}

/** The voice of a tour: says what happens and where to look, and waits for the reader. */
export class Guide {
  readonly progress: Progress;
  readonly #options: GuideOptions;

  constructor(options: GuideOptions) {
    this.#options = options;
    this.progress = options.progress;
  }

  /** Begins a chapter. */
  chapter(title: string): void {
    this.#options.say(`\n── ${title} ${"─".repeat(Math.max(0, WIDTH - title.length - 4))}\n`);
  }

  /** Says something, wrapped at the width of a page. */
  tell(text: string): void {
    this.#options.say(`${wrapped(text)}\n`);
  }

  /** Names what to look at, each with its address. */
  look(...places: readonly (readonly [what: string, address: string])[]): void {
    const widest = Math.max(...places.map(([, address]) => address.length));
    for (const [what, address] of places)
      this.#options.say(`   Look at  ${address.padEnd(widest)}   ${what}\n`);
  }

  /** Waits for Enter. Without a terminal, returns at once. */
  async next(what: string): Promise<void> {
    const { say, waits, interruption } = this.#options;
    if (!waits) return;
    say(`   Press Enter to ${what}. `);
    process.stdin.resume();
    await interruption
      .abortable((signal) => once(process.stdin, "data", { signal }))
      .finally(() => process.stdin.pause());
  }

  /** Does something, and reports it as one line. */
  do<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.progress.step(what, () => this.#options.interruption.abortable(work));
  }

  /** Reports what was checked. @throws if it is not so */
  check(what: string, isSo: boolean, found = ""): void {
    if (!isSo) throw new Error(`not so: ${what}${found === "" ? "" : `\n${found}`}`);
    this.#options.say(`   ✓ ${what}\n`);
  }
}

function wrapped(text: string): string {
  return text.replaceAll(/(?=\S)(.{1,96})(?:\s+|$)/g, "   $1\n").trimEnd();
}
