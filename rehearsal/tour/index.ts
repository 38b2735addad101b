import { rm } from "node:fs/promises";
import path from "node:path";
import type { CommandOutput } from "../../infra/shell/command.ts";
import { deploy } from "../deploy.ts";
import type { RehearsalOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { addresses } from "../report.ts";
import { type Interruption, isInterruption } from "../signals.ts";
import { READABLE_WORD_MS } from "../standins/model.ts";
import { openWorld, type World } from "../world.ts";
import {
  brokenConfig,
  type Chapter,
  crash,
  drift,
  pairing,
  restore,
  rollout,
  rolloutBack,
} from "./chapters.ts";
import { Guide } from "./guide.ts";
import { TOURS, type TourName } from "./names.ts";
import { Stage } from "./stage.ts";

const CHAPTERS: Record<TourName, readonly (readonly [title: string, chapter: Chapter])[]> = {
  tour: [
    ["A pairing", pairing],
    ["A crash", crash],
    ["A broken config", brokenConfig],
    ["A rollback", rolloutBack],
    ["A restore", restore],
  ],
  rollout: [
    ["A rollout", rollout],
    ["A rollback", rolloutBack],
  ],
  drift: [["Drift", drift]],
  restore: [["A restore", restore]],
};

export interface TourOptions {
  name: TourName;
  options: Pick<RehearsalOptions, "dir" | "sandbox" | "verbose" | "json">;
  output: CommandOutput;
  interruption: Interruption;
}

/**
 * Runs the chapters of a tour on a separate stack, and removes the stack at the end. On a terminal, waits for Enter
 * before each action.
 *
 * @throws if a claim of the tour is false
 */
export async function takeTour({ name, options, output, interruption }: TourOptions): Promise<void> {
  const { say, report, status } = output;
  const dir = path.join(options.dir, name);
  await rm(dir, { recursive: true, force: true });
  const progress = new Progress({ output, file: path.join(dir, "pulumi.log"), verbose: options.verbose });
  const { step, log, detail } = progress;
  const waits = status !== undefined && process.stdin.isTTY;
  const wordMs = waits ? READABLE_WORD_MS : 0;
  const guide = new Guide({ say, progress, interruption, waits });
  const passed: { chapter: string; seconds: number }[] = [];
  let world: World | undefined;
  let keepsLog = false;
  say(
    `${TOURS[name][0]?.toUpperCase()}${TOURS[name].slice(1)}, on a separate stack that is removed at the end.\n`,
  );
  try {
    const place = { ...options, dir };
    world = await interruption.abortable(() => openWorld("serverless", place, log, { step, wordMs }));
    const { stack } = world;
    const deployment = await interruption.abortable((signal) => deploy(stack, signal, detail, step));
    say(`\n${addresses(world, deployment)}`);
    const stage = new Stage(world, deployment, guide);
    for (const [index, [title, chapter]] of CHAPTERS[name].entries()) {
      const started = performance.now();
      guide.chapter(`${index + 1}/${CHAPTERS[name].length} ${title}`);
      await chapter(stage);
      passed.push({ chapter: title, seconds: Math.round((performance.now() - started) / 1_000) });
    }
  } catch (error) {
    keepsLog = !isInterruption(error);
    throw error;
  } finally {
    await world?.close();
    if (!keepsLog) await rm(dir, { recursive: true, force: true });
  }
  say("\nAll checks passed. The stack is removed.\n");
  report({ ok: true, chapters: passed });
}
