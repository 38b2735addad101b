import { expect, test } from "vitest";
import type { Supervisor } from "../../../runtime/supervisor/supervisor.ts";
import { eventually } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";

const ANSWER_MS = 2_000;
/** Shorter than one question may take. */
const SLOW_MS = 500;

function pidOf(supervisor: Supervisor): number {
  const pid = supervisor.processes().processes[0]?.pid;
  if (!pid) throw new Error("no gateway runs");
  return pid;
}

test("a gateway that hangs is ended, reported and restarted; one that is slow is left alone", async () => {
  const { supervisor, log } = await supervised(
    `
    process.on("SIGUSR2", () => { for (;;); });
    ready();
  `,
    { liveness: { everyMs: 50, answerMs: ANSWER_MS, misses: 3 } },
  );
  supervisor.start();
  await eventually(() => supervisor.status().state === "ready");
  process.kill(pidOf(supervisor), "SIGUSR2");
  await eventually(() => supervisor.status().restarts === 1);
  expect(await supervisor.whenSettled(30_000)).toMatchObject({ state: "ready", restarts: 1 });
  expect(log.lines.join("\n")).toContain("did not answer within");

  const pid = pidOf(supervisor);
  process.kill(pid, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  process.kill(pid, "SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, 2 * ANSWER_MS));
  expect(supervisor.status()).not.toHaveProperty("silent");
  expect(supervisor.status()).toMatchObject({ state: "ready", restarts: 1 });
});

test("the status says that the gateway is silent, from a missed answer to the next one", async () => {
  const { supervisor } = await supervised("ready();", {
    liveness: { everyMs: 50, answerMs: 500, misses: 1_000 },
  });
  supervisor.start();
  await eventually(() => supervisor.status().state === "ready");
  const pid = pidOf(supervisor);

  process.kill(pid, "SIGSTOP");
  await eventually(() => supervisor.status().silent?.code === "gateway_not_ready");

  process.kill(pid, "SIGCONT");
  await eventually(() => supervisor.status().silent === undefined);
  expect(supervisor.status()).toMatchObject({ state: "ready", restarts: 0 });
});
