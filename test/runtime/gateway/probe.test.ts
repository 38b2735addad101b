import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Probe, type ProbeOptions } from "../../../runtime/gateway/probe.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A gateway with one platform, which takes the token or not, and counts how often it was asked. */
function platform() {
  const state = { isReachable: true, asked: 0 };
  let found: "ready" | "failing" = "ready";
  const channels = {
    probe: async () => {
      state.asked += 1;
      found = state.isReachable ? "ready" : "failing";
    },
    health: () => [{ platform: "telegram", state: found }],
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const parts = () => ({ config: {}, models: { health: () => [] }, channels });
  const options = { parts, environment: {}, redact: String, fetch, clock: Date.now, log };
  // A probe reads only these parts of its components.
  return { state, probe: new Probe(options as unknown as ProbeOptions), found: () => found };
}

test("a platform that could not be reached at the start is asked again soon, not after ten minutes", async () => {
  const { state, probe, found } = platform();
  state.isReachable = false;
  probe.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(found()).toBe("failing");
  state.isReachable = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(found()).toBe("ready");
  probe.stop();
});

test("what goes on failing is asked less and less often, what works every ten minutes", async () => {
  const { state, probe } = platform();
  state.isReachable = false;
  probe.start();
  await vi.advanceTimersByTimeAsync(3_600_000);
  // 10, 20, 40 … 600 s, then every ten minutes.
  expect(state.asked).toBeGreaterThan(8);
  expect(state.asked).toBeLessThan(14);
  state.isReachable = true;
  await vi.advanceTimersByTimeAsync(600_000);
  const asked = state.asked;
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(state.asked - asked).toBe(3);
  probe.stop();
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(state.asked - asked).toBe(3);
});
