import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { hostAlerts } from "../../../runtime/host/alerts.ts";
import { silent } from "../support/ledger.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a host looks every minute, and remembers over a restart what it has told", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      vi.advanceTimersByTime(60_000);
      // What a look does beside timers takes real time.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const home = mkdtempSync(path.join(tmpdir(), "steward-alerts-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const bodies: string[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    bodies.push(String(init.body));
    return new Response(null);
  });
  const start = () =>
    hostAlerts({
      settings: { name: "host", slack: "https://hooks.slack.com/services/T0/B0/x", after: "2m" },
      home,
      sandbox: {
        status: async () => ({ state: "crash-looping", since: "", restarts: 3 }),
        peek: async () => undefined,
      },
      backups: { status: async () => ({}) },
      ledger: { oldestOpen: () => undefined },
      log: silent,
    });
  const first = start();
  await pass(5);
  expect(bodies).toHaveLength(1);
  expect(bodies[0]).toContain("gateway");
  first.stop();

  const second = start();
  await pass(60);
  second.stop();
  expect(bodies).toHaveLength(1);
  expect(readFileSync(path.join(home, "alerts.json"), "utf8")).toContain("toldAt");
});
