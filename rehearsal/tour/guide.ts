import { once } from "node:events";
import type { CommandOutput } from "../../infra/shell/command.ts";
import type { Interruption } from "../signals.ts";
import type { Progress } from "../progress.ts";

const WIDTH = 100;

export interface GuideOptions {
  say: CommandOutput["say"];
  progress: Progress;
  interruption: Interruption;
  /** True if each action waits for Enter. */
  waits: boolean;
}

/** Guides a reader through a tour: prints explanations and addresses, and waits for Enter. */
export class Guide {
  readonly progress: Progress;
  readonly #options: GuideOptions;

  constructor(options: GuideOptions) {
    this.#options = options;
    this.progress = options.progress;
  }

  chapter(title: string): void {
    this.#options.say(`\n── ${title} ${"─".repeat(Math.max(0, WIDTH - title.length - 4))}\n`);
  }

  explain(text: string): void {
    this.#options.say(`${wrapped(text)}\n`);
  }

  showAddresses(...places: readonly (readonly [what: string, address: string])[]): void {
    const widest = Math.max(...places.map(([, address]) => address.length));
    for (const [what, address] of places)
      this.#options.say(`   Look at  ${address.padEnd(widest)}   ${what}\n`);
  }

  /** Waits until the reader presses Enter. Returns immediately without a terminal. */
  async next(what: string): Promise<void> {
    const { say, waits, interruption } = this.#options;
    if (!waits) return;
    say(`   Press Enter to ${what}. `);
    process.stdin.resume();
    await interruption
      .abortable((signal) => once(process.stdin, "data", { signal }))
      .finally(() => process.stdin.pause());
  }

  step<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.progress.step(what, () => this.#options.interruption.abortable(work));
  }

  /**
   * Prints a claim of the tour. `isSo` is the result of checking it.
   *
   * @throws if the claim is false
   */
  check(what: string, isSo: boolean, found = ""): void {
    if (!isSo) throw new Error(`check failed: ${what}${found === "" ? "" : `\n${found}`}`);
    this.#options.say(`   ✓ ${what}\n`);
  }
}

function wrapped(text: string): string {
  return text.replaceAll(/(?=\S)(.{1,96})(?:\s+|$)/g, "   $1\n").trimEnd();
}
