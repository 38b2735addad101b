import { describe, expect, it } from "vitest";
import { VERSION } from "../../../runtime/contract/names.ts";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";

type Fixture = Parameters<typeof edgeFixture>[0];

const MODEL = "anthropic/claude-sonnet-4-5";
const BROKER = {
  answered: 7,
  failed: 1,
  refused: 2,
  operations: { "slack/file": { answered: 3, failed: 0, refused: 1 } },
};
const operator = signedIn();

async function read(path: string, options: Fixture = {}) {
  const { jwk, headers } = await operator;
  const edge = edgeFixture({
    jwk,
    status: { restarts: 2, coldStartMs: 1_234, broker: BROKER },
    ...options,
  });
  return { ...edge, response: await edge.app.request(path, { headers }) };
}

/** Samples of a text in Prometheus's format, by name and labels; throws for a line that is not of it. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const comment = /^# (?:HELP [a-z0-9_]+ .+|TYPE ([a-z0-9_]+) (counter|gauge|histogram))$/.exec(line);
    if (comment?.[1] !== undefined) types.set(comment[1], comment[2] ?? "");
    if (comment !== null) continue;
    const sample =
      /^(([a-z0-9_]+)(?:\{[a-z]+="(?:[^"\\]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\]|\\["\\n])*")*\})?) (\S+)$/.exec(
        line,
      );
    const [, id = "", name = "", value] = sample ?? [];
    const family = types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "");
    if (!types.has(family) || samples.has(id)) throw new Error(`not of the format: ${line}`);
    if (types.get(name) === "counter" && !name.endsWith("_total"))
      throw new Error(`a counter's name: ${name}`);
    samples.set(id, Number(value));
  }
  return samples;
}

describe("GET /metrics", () => {
  it("gives every figure in Prometheus's text format", async () => {
    const { response } = await read("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    expect(text.endsWith("\n")).toBe(true);
    expect(Object.fromEntries(parse(text))).toEqual({
      [`steward_build_info{version="${VERSION}"}`]: 1,
      'steward_ledger_entries{state="waiting"}': 1,
      'steward_ledger_entries{state="delivering"}': 2,
      'steward_ledger_entries{state="answered"}': 3,
      'steward_ledger_entries{state="ignored"}': 0,
      'steward_ledger_entries{state="failed"}': 4,
      'steward_sandbox_state{state="stopped"}': 0,
      'steward_sandbox_state{state="starting"}': 0,
      'steward_sandbox_state{state="ready"}': 1,
      'steward_sandbox_state{state="crash-looping"}': 0,
      steward_volume_writable: 1,
      steward_gateway_silent: 0,
      steward_gateway_restarts_total: 2,
      'steward_broker_requests_total{outcome="answered"}': 7,
      'steward_broker_requests_total{outcome="failed"}': 1,
      'steward_broker_requests_total{outcome="refused"}': 2,
      'steward_broker_operations_total{operation="slack/file",outcome="answered"}': 3,
      'steward_broker_operations_total{operation="slack/file",outcome="failed"}': 0,
      'steward_broker_operations_total{operation="slack/file",outcome="refused"}': 1,
      steward_cold_start_seconds: 1.234,
      steward_answers_total: 1,
      steward_answers_active: 0,
      steward_conversations: 1,
      steward_messages: 2,
      steward_schedules: 1,
      steward_schedules_missed: 0,
      steward_schedules_failed: 0,
      'steward_channel_ready{platform="slack"}': 0,
      [`steward_model_ready{model="${MODEL}"}`]: 1,
      [`steward_model_requests_7d{model="${MODEL}"}`]: 5,
      [`steward_model_tokens_7d{model="${MODEL}",direction="input"}`]: 500,
      [`steward_model_tokens_7d{model="${MODEL}",direction="output"}`]: 75,
    });
  });

  it("tells of a gateway that is not ready what is known outside, and wakes nothing", async () => {
    for (const state of ["stopped", "starting", "crash-looping"] as const) {
      const { response, requests, wakes } = await read("/metrics", { state, status: {} });
      const samples = parse(await response.text());
      expect(samples.get(`steward_sandbox_state{state="${state}"}`)).toBe(1);
      expect(samples.has("steward_answers_total")).toBe(false);
      expect(samples.has("steward_cold_start_seconds")).toBe(false);
      expect([...requests, ...wakes]).toEqual([]);
    }
  });

  it("gives the waits for a first word as a histogram", async () => {
    const firstWords = {
      buckets: [
        { le: "60", count: 2 },
        { le: "+Inf", count: 3 },
      ],
      count: 3,
      seconds: 70.5,
    };
    const text = await (await read("/metrics", { gateway: { firstWords } })).response.text();
    expect(text).toContain("# TYPE steward_first_word_seconds histogram");
    expect(Object.fromEntries([...parse(text)].filter(([name]) => name.includes("first_word")))).toEqual({
      'steward_first_word_seconds_bucket{le="60"}': 2,
      'steward_first_word_seconds_bucket{le="+Inf"}': 3,
      steward_first_word_seconds_sum: 70.5,
      steward_first_word_seconds_count: 3,
    });
  });

  it("counts what was not understood by where it came from", async () => {
    const lastAt = "2026-11-21T12:00:00.000Z";
    const findings = [
      { area: "message" as const, what: "a", count: 2, lastAt },
      { area: "message" as const, what: "b", count: 3, lastAt },
      { area: "tool" as const, what: "c", count: 1, lastAt },
    ];
    const text = await (await read("/metrics", { gateway: { findings } })).response.text();
    expect(parse(text).get('steward_not_understood_total{area="message"}')).toBe(5);
    expect(parse(text).get('steward_not_understood_total{area="tool"}')).toBe(1);
  });

  it("escapes what a name may hold", async () => {
    const models = [{ id: 'a"b\\c\nd', state: "ready" as const }];
    const text = await (await read("/metrics", { gateway: { models } })).response.text();
    expect(parse(text).get('steward_model_ready{model="a\\"b\\\\c\\nd"}')).toBe(1);
  });
});

describe("GET /_admin/api/metrics", () => {
  it("gives the same figures as JSON", async () => {
    const { response, requests } = await read("/_admin/api/metrics");
    expect(await response.json()).toEqual({
      version: VERSION,
      ledger: { waiting: 1, delivering: 2, answered: 3, ignored: 0, failed: 4 },
      sandbox: {
        state: "ready",
        since: new Date(NOW).toISOString(),
        restarts: 2,
        coldStartMs: 1_234,
        broker: BROKER,
      },
      gateway: {
        counts: { conversations: 1, messages: 2, answered: 1, active: 0 },
        schedules: { count: 1, nextAt: "2026-11-22T08:00:00.000Z", missed: 0 },
        channels: [{ platform: "slack", state: "failing" }],
        models: [{ id: MODEL, state: "ready" }],
        usage: [
          { day: "2026-11-18", model: MODEL, requests: 3, inputTokens: 400, outputTokens: 50 },
          { day: "2026-11-17", model: MODEL, requests: 2, inputTokens: 100, outputTokens: 25 },
        ],
      },
    });
    expect(requests).toEqual([]);
  });
});

it.each(["/metrics", "/_admin/api/metrics"])("%s refuses what another site's page asks for", async (path) => {
  const { jwk, headers } = await operator;
  const { app } = edgeFixture({ jwk });
  const response = await app.request(path, { headers: { ...headers, "sec-fetch-site": "cross-site" } });
  expect(await response.json()).toMatchObject({ status: 403, code: "cross_site" });
});
