import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { hasEnded } from "../../../runtime/process/ended.ts";

test.skipIf(!existsSync("/proc"))("a process has ended also if its parent has not noticed", async () => {
  // By then the shell has become a program that never asks for its children.
  const parent = spawn("sh", ["-c", "sleep 1 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const child = Number(said.toString());
  await expect.poll(() => hasEnded(child), { timeout: 30_000 }).toBe(true);
  expect(() => process.kill(child, 0)).not.toThrow();
  expect(hasEnded(parent.pid ?? 0)).toBe(false);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  expect(hasEnded(parent.pid ?? 0)).toBe(true);
});

test.each([0, -1, Number.NaN])("%d is no process's id, and nothing runs under it", (pid) => {
  expect(hasEnded(pid)).toBe(true);
});
