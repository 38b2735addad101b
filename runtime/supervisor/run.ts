import type { Child } from "./child.ts";
import type { Exit } from "./failure.ts";
import type { Output } from "./output.ts";
import { probeUntilReady, probeWhileReady, type LivenessPolicy } from "./probe.ts";
import type { Timers } from "./timers.ts";

/** What one run of the gateway needs. Times are in milliseconds. */
export interface RunOptions {
  /** The process, just started. */
  child: Child;
  host: string;
  port: number;
  startTimeoutMs: number;
  liveness: LivenessPolicy;
  timers: Timers;
  output: Output;
  /** The port answers. Called once at most. */
  onReady(version: string | undefined): void;
  /** It ended, and nobody had asked it to. */
  onEnd(exit: Exit): void;
}

/** One run of the gateway, from its start to its end. */
export interface Run {
  pid: number | null;
  /** Ends it: SIGTERM, then SIGKILL after the grace. Resolves when it and its children are gone. */
  stop(graceMs: number): Promise<void>;
}

/** Follows one run of the gateway. */
export function startRun(options: RunOptions): Run {
  const { child, host, port, startTimeoutMs, liveness, timers, output } = options;
  const { onReady, onEnd } = options;
  let stopping = false;
  let silentForMs: number | undefined;
  child.read((stream, text) => output.write(stream, text));
  const giveUp = (ms: number): void => {
    silentForMs = ms;
    child.kill("SIGKILL");
  };
  const stopTimeout = timers.after(startTimeoutMs, () => giveUp(startTimeoutMs));
  const ready = (version: string | undefined): void => {
    stopTimeout();
    stopProbe = probeWhileReady({ host, port, timers, onSilent: giveUp }, liveness);
    onReady(version);
  };
  let stopProbe = probeUntilReady({ host, port, pid: child.pid ?? -1, timers, onReady: ready });
  const watch = async (): Promise<void> => {
    const exit = await child.exited;
    stopProbe();
    stopTimeout();
    const stderr = output.endRun();
    if (!stopping) onEnd({ ...exit, stderr, ...(silentForMs !== undefined && { silentForMs }) });
  };
  const ended = watch();
  return {
    pid: child.pid,
    stop: async (graceMs) => {
      stopping = true;
      stopProbe();
      stopTimeout();
      child.kill("SIGTERM");
      const force = timers.after(graceMs, () => child.kill("SIGKILL"));
      await ended;
      force();
    },
  };
}
