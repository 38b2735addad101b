import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded } from "../../runtime/process/ended.ts";
import { listens } from "./ports.ts";

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * q;
  const low = sorted[Math.floor(position)] ?? Number.NaN;
  const high = sorted[Math.ceil(position)] ?? Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

export interface Figure {
  name: string;
  unit: "ms" | "s" | "B" | "KB" | "MB" | "ratio" | "count" | "USD";
  median: number;
  runs: number[];
  atMost?: number;
  atLeast?: number;
}

export function figure(
  name: string,
  unit: Figure["unit"],
  values: readonly number[],
  atMost?: number,
): Figure {
  const runs = values.map((value) => Math.round(value * 100) / 100);
  return {
    name,
    unit,
    median: Math.round(median(values) * 100) / 100,
    runs,
    ...(atMost !== undefined && { atMost }),
  };
}

export async function accepting(port: number, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await listens(port))) {
    if (performance.now() > end) throw new Error(`port ${port} did not open within ${timeoutMs} ms`);
    await sleep(2);
  }
}

/** Returns the resident memory of a process and its descendants in MiB. */
export function residentMb(pid: number): number {
  return processTree(pid).reduce((sum, one) => sum + residentKb(one), 0) / 1_024;
}

export function processTree(pid: number): number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).trim();
  return [pid, ...children.split(" ").filter(Boolean).map(Number).flatMap(processTree)];
}

/** Returns the descendants of a process with this text in their command line. */
export function startedAs(pid: number, text: string): number[] {
  return processTree(pid)
    .slice(1)
    .filter((one) => readIfThere(`/proc/${one}/cmdline`).includes(text));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns false for zombies. */
export function runs(pid: number): boolean {
  return !hasEnded(pid);
}

function residentKb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
