import type { ChannelHealth, GatewayStatus } from "../../../runtime/contract/control.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { PAGES } from "../../../runtime/edge/ui/console.tsx";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const revisionOf = (page: string) => /data-revision="([^"]+)"/.exec(page)?.[1] ?? "none";

describe("GET /_admin/api/changes", () => {
  it("tells of each change, says nothing of it, wakes nothing, and ends after five minutes", async () => {
    let now = NOW;
    const counts = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };
    const { jwk, headers } = await operator;
    const { app, requests, wakes } = edgeFixture({
      jwk,
      state: "stopped",
      clock: () => now,
      ledger: { counts: async () => ({ ...counts }) },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const passes = async (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += 2_000) {
        now += 2_000;
        await vi.advanceTimersByTimeAsync(2_000);
      }
    };
    const accept = { accept: "text/event-stream" };
    const response = await app.request(`${HOST}/_admin/api/changes`, { headers: { ...headers, ...accept } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    let told = "";
    const read = response.body?.pipeThrough(new TextDecoderStream()).pipeTo(
      new WritableStream({
        write(text) {
          told += text;
        },
      }),
    );
    await passes(10_000);
    expect(told).not.toContain("change");
    counts.answered = 1;
    await passes(4_000);
    counts.failed = 1;
    await passes(4_000);
    expect(told.match(/event: change/g)).toHaveLength(2);
    expect(told.replaceAll(/: open|event: change|data:|\s/g, "")).toBe("");
    await passes(300_000);
    await read;
    expect(told.match(/: open/g)?.length).toBeGreaterThan(10);
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("reports at once a change since the page was rendered, and otherwise nothing", async () => {
    const counts = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };
    const { jwk, headers } = await operator;
    const { app } = edgeFixture({ jwk, ledger: { counts: async () => ({ ...counts }) } });
    const first = async (since: string) => {
      const accept = { accept: "text/event-stream" };
      const address = `${HOST}/_admin/api/changes?since=${since}`;
      const { body } = await app.request(address, { headers: { ...headers, ...accept } });
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      const over = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 2_500));
      let told = "";
      for (
        let part: string | undefined = "";
        part !== undefined && !told.includes("change");
        told += part ?? ""
      )
        part = (await Promise.race([reader?.read(), over]))?.value;
      void reader?.cancel();
      return told.replaceAll(/\s/g, "");
    };
    const since = revisionOf(await (await app.request(`${HOST}/_admin/`, { headers })).text());
    expect(await first(since)).toBe(":open");
    counts.answered = 1;
    expect(await first(since)).toBe(":openevent:changedata:");
  });

  it.each(["ready", "starting", "stopped", "crash-looping"] as const)(
    "has the revision that every page carries while the container is %s",
    async (state) => {
      const { jwk, headers } = await operator;
      const { app } = edgeFixture({ jwk, state });
      const get = (path: string) => app.request(`${HOST}${path}`, { headers });
      const { revision } = (await (await get("/_admin/api/changes")).json()) as { revision: string };
      for (const { path } of PAGES) expect(revisionOf(await (await get(path)).text()), path).toBe(revision);
    },
  );

  it.each(["/_admin/ledger", "/_admin/activity", "/_admin/rollouts"])(
    "tells of a change while %s was rendered",
    async (path) => {
      const counts = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };
      const { jwk, headers } = await operator;
      const changes = async <T>(answer: T) => {
        counts.answered += 1;
        return answer;
      };
      const { app } = edgeFixture({
        jwk,
        ledger: { counts: async () => ({ ...counts }), list: () => changes({ entries: [] }) },
        activity: { activity: (limit) => (limit === 1 ? Promise.resolve([]) : changes([])) },
      });
      const get = (address: string) => app.request(`${HOST}${address}`, { headers });
      const revision = revisionOf(await (await get(path)).text());
      expect(counts.answered).toBe(1);
      expect(await (await get("/_admin/api/changes")).json()).not.toEqual({ revision });
      counts.answered = 0;
      expect(await (await get("/_admin/api/changes")).json()).toEqual({ revision });
    },
  );

  it("moves when somebody asks for access, and not when a platform was polled once more", async () => {
    const { jwk, headers } = await operator;
    const slack: ChannelHealth = { platform: "slack", state: "ready", polledAt: "2026-01-01T00:00:00.000Z" };
    const gateway: Partial<GatewayStatus> = { pending: 0, channels: [slack] };
    const { app } = edgeFixture({ jwk, gateway });
    const ask = async () => (await app.request(`${HOST}/_admin/api/changes`, { headers })).json();
    const before = await ask();
    gateway.channels = [{ ...slack, polledAt: "2026-01-01T00:01:00.000Z" }];
    expect(await ask()).toEqual(before);
    gateway.pending = 1;
    expect(await ask()).not.toEqual(before);
  });

  it("gives who accepts no stream a revision that moves with each change", async () => {
    const counts = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };
    const { jwk, headers } = await operator;
    const { app } = edgeFixture({ jwk, ledger: { counts: async () => ({ ...counts }) } });
    const ask = async () => (await app.request(`${HOST}/_admin/api/changes`, { headers })).json();
    const before = await ask();
    expect(await ask()).toEqual(before);
    counts.answered = 1;
    expect(await ask()).not.toEqual(before);
  });

  it("is for operators alone", async () => {
    const { jwk } = await operator;
    const { app } = edgeFixture({ jwk });
    expect((await app.request(`${HOST}/_admin/api/changes`)).status).toBe(403);
  });
});
