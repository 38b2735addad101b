import { describe, expect, it, onTestFinished, vi } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { edgeFixture, signedIn } from "../../support/edge.ts";

type Fixture = Parameters<typeof edgeFixture>[0];

const HOST = "https://steward.example.com";
const operator = signedIn();
const LINES = Array.from({ length: 300 }, (_, index) => `line <${index}>`);
const OUTPUT = { processes: [{ name: "gateway", pid: 7, state: "running", restarts: 0, logs: LINES }] };
const LOGS = { "/processes?logs=true": () => Response.json(OUTPUT) };
const hangs = () => new Promise<Response>(() => undefined);

async function edge(options: Fixture = {}) {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({ jwk, ...options });
  const look = (path: string) => fixture.app.request(`${HOST}${path}`, { headers });
  const text = async (path: string) => (await look(path)).text();
  const restart = (others: Record<string, string> = { origin: HOST }) =>
    fixture.app.request(`${HOST}/_admin/restart`, { method: "POST", headers: { ...headers, ...others } });
  return { ...fixture, look, text, restart };
}

/** Gives the answer that comes once the container was asked and 10 s have passed. */
async function afterLimit<T>(requests: readonly unknown[], ask: () => Promise<T>, asked = 1): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = ask();
  await vi.waitFor(() => expect(requests).toHaveLength(asked), { timeout: 20_000 });
  await vi.advanceTimersByTimeAsync(10_000);
  return answer;
}

describe("GET /_admin/logs", () => {
  it("shows the last 200 lines as text, line by line", async () => {
    const page = await (await edge({ answers: LOGS })).text("/_admin/logs");
    expect(page).toMatch(/<pre[^>]*>\n?line &lt;100&gt;\nline &lt;101&gt;\n/);
    expect(page).toContain("line &lt;299&gt;</pre>");
    expect(page).not.toContain("line &lt;99&gt;");
  });

  it("loads again by itself only where that was asked for", async () => {
    const { text, look } = await edge({ answers: LOGS });
    expect(await text("/_admin/logs")).not.toContain("http-equiv");
    expect(await text("/_admin/logs?follow=1")).toContain('http-equiv="refresh" content="5"');
    expect((await look("/_admin/logs?follow=60")).status).toBe(400);
  });

  it("allows its own script and no other, and has none where the page loads again by itself", async () => {
    const { look, text } = await edge({ answers: LOGS });
    const response = await look("/_admin/logs");
    const scripts = [...(await response.text()).matchAll(/<script[^>]*>[^<]*/g)].map(([tag]) => tag);
    expect(scripts).toEqual([
      '<script type="module" src="/assets/live.js">',
      '<script type="module" src="/assets/logs.js">',
    ]);
    const policy = response.headers.get("content-security-policy");
    expect(policy).toContain("script-src 'self'; style-src 'self'; connect-src 'self';");
    expect(await text("/_admin/logs?follow=1")).not.toContain("/assets/logs.js");
  });

  it("says that there are none while the container is stopped, and wakes nothing", async () => {
    const { text, requests, wakes } = await edge({ state: "stopped" });
    expect(await text("/_admin/logs?follow=1")).toContain("No lines are available");
    expect([...requests, ...wakes]).toEqual([]);
  });

  const line = (time: string, level: string, message: string) =>
    JSON.stringify({ time, level, logger: "gateway", message });
  const KEPT = [
    line("2026-11-17T23:59:00.000Z", "info", "good night"),
    line("2026-11-18T00:00:01.000Z", "error", "it <failed>"),
  ];
  const remembered = (lines: string[]): NonNullable<NonNullable<Fixture>["remembered"]> => [
    ["logs", { at: "2026-11-18T10:00:00.000Z", text: JSON.stringify({ lines, next: 7 }) }],
  ];

  it("shows what was kept while the container sleeps, says as of when, and filters it without a script", async () => {
    const { text, requests, wakes } = await edge({ state: "stopped", remembered: remembered(KEPT) });
    const page = await text("/_admin/logs");
    expect(page).toMatch(/23:59:00 INFO {4}good night\n<span class="day">2026-11-18 \(UTC\)\n<\/span>/);
    expect(page).toContain('<span class="error">00:00:01 ERROR   it &lt;failed&gt;</span>');
    expect(page).toContain('As of <time datetime="2026-11-18T10:00:00.000Z">');
    const errors = await text("/_admin/logs?level=error&text=FAILED");
    expect(errors).toMatch(/<pre[^>]*><span class="error">00:00:01/);
    expect(errors).toContain('value="FAILED"');
    expect(await text("/_admin/logs?text=nothing")).toContain("No line matches the filter.");
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("goes on after the lines of earlier runs, and keeps all for the next sleep", async () => {
    const logs = ["new"];
    const answers = {
      "/processes?logs=true&after=7": () =>
        Response.json({ processes: [{ name: "gateway", logs, nextLog: 8 }] }),
    };
    const { text, look, remembered: kept } = await edge({ answers, remembered: remembered(KEPT) });
    expect(await text("/_admin/logs")).toMatch(/it &lt;failed&gt;\n<\/span>new<\/pre>/);
    expect(JSON.parse(kept.get("logs")?.text ?? "")).toEqual({ lines: [...KEPT, "new"], next: 8 });
    const file = await look("/_admin/logs/download");
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="steward-logs.jsonl"');
  });

  it("keeps 200 kB, the newest", async () => {
    const logs = Array.from({ length: 400 }, (_, index) => `${index} ${"x".repeat(1_000)}`);
    const answers = {
      "/processes?logs=true&after=7": () =>
        Response.json({ processes: [{ name: "gateway", logs, nextLog: 407 }] }),
    };
    const { text, remembered: kept } = await edge({ answers, remembered: remembered(KEPT) });
    await text("/_admin/logs");
    const stored = kept.get("logs")?.text ?? "";
    expect(stored.length).toBeGreaterThan(190_000);
    expect(stored.length).toBeLessThan(200_100);
    expect(stored).toContain('"399 x');
  });

  it("does not wait for a container that hangs", async () => {
    const { text, requests } = await edge({ answers: { "/processes?logs=true": hangs } });
    expect(await afterLimit(requests, () => text("/_admin/logs"))).toContain("command_timed_out");
  });
});

describe("GET /_admin/config", () => {
  const file =
    (valid: boolean, config: unknown, problems: object[] = []) =>
    () =>
      Response.json({ config, path: "/data/steward.json", valid, problems });

  it("shows the file and that it is valid", async () => {
    const { text } = await edge({ answers: { "/config": file(true, { agent: { name: "<i>" } }) } });
    const page = await text("/_admin/config");
    expect(page).toContain("The file is valid");
    expect(page).toContain("{\n  &quot;agent&quot;: {\n    &quot;name&quot;: &quot;&lt;i&gt;&quot;");
    expect(page).toContain("/data/steward.json");
  });

  it("shows every problem of a file that is not, and one that is no JSON", async () => {
    const problems = [{ path: "channels.telegram", message: 'Unrecognized key: "dm"' }];
    const { text } = await edge({ answers: { "/config": file(false, null, problems) } });
    const page = await text("/_admin/config");
    expect(page).toMatch(/channels\.telegram<\/code><\/dt>\s*<dd>Unrecognized key: &quot;dm&quot;/);
    expect(page).toContain("The file is not valid");
    expect(page).toContain("The file is not JSON.");
  });

  it("wakes no stopped container", async () => {
    const { text, requests, wakes } = await edge({ state: "stopped" });
    expect(await text("/_admin/config")).toContain("once the container has run");
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("tells when the supervisor does not answer, or hangs", async () => {
    const down = await edge({ answers: { "/config": () => new Response(null, { status: 500 }) } });
    expect(await down.text("/_admin/config")).toContain("gateway_unavailable");
    const slow = await edge({ answers: { "/config": hangs } });
    expect(await afterLimit(slow.requests, () => slow.text("/_admin/config"))).toContain("command_timed_out");
  });
});

describe("a restart", () => {
  it("is asked for on a page of its own, which changes nothing", async () => {
    const { text, requests } = await edge();
    expect(await text("/_admin/restart")).toMatch(/<form method="post" action="\/_admin\/restart">/);
    expect(requests).toEqual([]);
    expect(await text("/_admin/")).toContain('href="/_admin/restart"');
  });

  it("goes to the supervisor, is logged, and leads back to the overview", async () => {
    const { restart, requests, logged, text } = await edge();
    const response = await restart();
    expect([response.status, response.headers.get("location")]).toEqual([303, "/_admin/?done=restarting"]);
    expect(requests).toEqual([{ port: "supervisor", request: { method: "POST", path: "/restart" } }]);
    expect(logged.join()).toMatch(/operator: restart.*operator@example\.com/);
    expect(await text("/_admin/?done=restarting")).toContain("The gateway is restarting.");
  });

  it("is refused while the config on disk is not valid, and the repair is offered", async () => {
    const problem = reason("config_invalid", 'agent: Unrecognized key: "x"');
    const gateway = { config: { loadedAt: "2026-11-20T00:00:00Z", problem } };
    const { restart, requests, text } = await edge({ gateway });

    const page = await text("/_admin/restart");
    expect(page).not.toContain("Restart the gateway</button>");
    expect(page).toContain('href="/_admin/config#repairs"');
    expect((await restart()).headers.get("location")).toBe("/_admin/restart?problem=config_invalid");
    expect(requests.map(({ request }) => request.path)).not.toContain("/restart");
  });

  it("says nothing good above a gateway that cannot start", async () => {
    const status = { state: "crash-looping" as const, reason: reason("crash_looping") };
    const page = await (await edge({ state: "crash-looping", status })).text("/_admin/?done=restarting");
    expect(page).not.toContain("The gateway is restarting.");
    expect(page).toContain("The gateway cannot start");
  });

  it.each(["/_admin/", "/_admin/restart", "/_admin/logs", "/_admin/models"])(
    "%s calls no gateway well that nobody gets an answer from",
    async (path) => {
      const model = { id: "a/b", state: "failing" as const, reason: reason("model_key_invalid") };
      const mute = await (await edge({ gateway: { models: [model] } })).text(path);
      const full = await (
        await edge({ status: { volume: reason("disk_full", "0 KiB are free") } })
      ).text(path);
      for (const page of [mute, full]) {
        expect(page).toMatch(/title="Overall state">Down</);
        expect(page).not.toContain("The gateway is up");
      }
    },
  );

  it("starts a stopped container", async () => {
    const { restart, text } = await edge({ state: "stopped" });
    expect(await text("/_admin/restart")).toContain('<button type="submit" class="primary">Restart');
    expect((await restart()).headers.get("location")).toBe("/_admin/?done=restarting");
  });

  it("tells when the supervisor does not answer, or hangs", async () => {
    const down = await edge({ answers: { "/restart": () => new Response(null, { status: 500 }) } });
    expect((await down.restart()).headers.get("location")).toBe("/_admin/?problem=gateway_unavailable");
    const slow = await edge({ answers: { "/restart": hangs } });
    const response = await afterLimit(slow.requests, async () => slow.restart());
    expect(response.headers.get("location")).toBe("/_admin/?problem=command_timed_out");
  });

  it("is refused from another site's page", async () => {
    const { restart, requests } = await edge();
    expect((await restart({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(requests).toEqual([]);
  });
});

it("the overview takes a query that is not its own, as an identity gateway may add one", async () => {
  const response = await (await edge()).look("/_admin/?state=abc");
  expect(response.status).toBe(200);
});

it("the overview does not wait for a container that hangs", async () => {
  const { text, requests } = await edge({
    answers: { "/processes?logs=false": hangs, "/operations": hangs },
  });
  expect(await afterLimit(requests, () => text("/_admin/"), 3)).toContain("the container does not answer");
});

/** Answers of a container that are no JSON, or have another form than the pages read. */
const ODD: Record<string, () => Response> = {
  "no JSON": () => new Response("<html>"),
  null: () => Response.json(null),
  "a list": () => Response.json([1]),
  "fields of another kind": () =>
    Response.json({
      processes: [{ name: {}, logs: "none" }],
      model: "claude",
      models: { id: 1 },
      channels: [null],
      counts: [],
      schedules: null,
      config: { loadedAt: 1 },
      usage: [{ day: 1 }],
      days: "all",
      messages: 3,
      prices: [null],
      problems: "many",
      path: 7,
      text: [],
      ok: "yes",
    }),
};
const PAGES = Object.values(ROUTES).filter(
  ({ method, path, access }) => method === "GET" && path.startsWith("/_admin") && access === "identity",
);
/** Pages that ask the container, and show what is wrong with its answer in a box. */
const SHOWN = [
  "logs",
  "channels",
  "models",
  "usage",
  "config",
  "config/edit",
  "devices",
  "schedules",
  "sessions",
];
const ASKED = [
  "gateway /status",
  "gateway /usage",
  "/config",
  "/config-file?as=file",
  "/operations",
  "/processes?logs=false",
  "/processes?logs=true",
];

describe("answers of a container that have another form", () => {
  it.each(Object.entries(ODD))("are a problem on each page, and never a crash: %s", async (_, odd) => {
    const { look } = await edge({ answers: Object.fromEntries(ASKED.map((path) => [path, odd])) });
    for (const { path } of PAGES) {
      const response = await look(path);
      expect([path, response.status === 500]).toEqual([path, false]);
    }
    for (const page of SHOWN) {
      const response = await look(`/_admin/${page}`);
      expect([page, response.status]).toEqual([page, 200]);
      expect([page, await response.text()]).toEqual([page, expect.stringContaining("gateway_unavailable")]);
    }
    for (const path of ["/debug/container-config", "/debug/logs", "/debug/cli?cmd=sessions%20list"]) {
      const response = await look(path);
      const document = await response.json();
      expect([path, document]).toEqual([path, expect.objectContaining({ code: "gateway_unavailable" })]);
    }
    expect((await look("/metrics")).status).toBe(200);
  });

  it("are read with fields that this version does not know", async () => {
    const { look, text } = await edge({
      answers: { "/processes?logs=true": () => Response.json({ ...OUTPUT, later: [{}] }) },
      gateway: { later: { x: 1 } } as object,
    });
    expect(await text("/_admin/logs")).toContain("line &lt;299&gt;");
    expect((await look("/_admin/channels")).status).toBe(200);
  });
});
