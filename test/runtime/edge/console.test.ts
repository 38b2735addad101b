import { describe, expect, it } from "vitest";
import type { GatewayStatus, SandboxStatus } from "../../../runtime/contract/control.ts";
import { reason } from "../../../runtime/contract/errors.ts";
import { judgeHealth } from "../../../runtime/edge/health.ts";
import { edgeFixture, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();

async function edge(fixture: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const made = edgeFixture({ jwk, ...fixture });
  const browser = { ...headers, accept: "text/html" };
  const look = (path: string, asBrowser = true) =>
    made.app.request(`${HOST}${path}`, { headers: asBrowser ? browser : headers });
  const press = (path: string, body: string) =>
    made.app.request(`${HOST}${path}`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body,
    });
  return { ...made, look, press, text: async (path: string) => (await look(path)).text() };
}

describe("every page", () => {
  it("names the environment, production in a colour of its own", async () => {
    const production = await (await edge({ environmentName: "prod-eu" })).text("/_admin/usage");
    expect(production).toContain('<span class="badge production">prod-eu</span>');
    expect(production).toContain("<title>(2) Usage · steward prod-eu</title>");
    const other = await (await edge({ environmentName: "dev" })).text("/_admin/usage");
    expect(other).toContain('<span class="badge environment">dev</span>');
  });

  it("shows how many wait for approval beside Access", async () => {
    const page = await (await edge({ gateway: { pending: 2 } })).text("/_admin/logs");
    expect(page).toMatch(/>Access<\/a>\s*<span class="badge warn"[^>]*>2<\/span>/);
    expect(await (await edge()).text("/_admin/logs")).not.toMatch(/>Access<\/a>\s*<span/);
  });

  it("tells the overall state in its head", async () => {
    const model = { id: "anthropic/x", state: "failing" as const, reason: reason("model_key_invalid") };
    const page = await (await edge({ gateway: { models: [model] } })).text("/_admin/backups");
    expect(page).toMatch(/class="badge bad"[^>]*>\s*Down\s*</);
  });

  it("shows a restart's progress: it reloads without the notice", async () => {
    const page = await (await edge()).text("/_admin/?done=restarting");
    expect(page).toContain("The gateway is restarting.");
    expect(page).toContain('<meta http-equiv="refresh" content="3; url=/_admin/"/>');
  });

  it("reloads itself while the container starts, and not once it is up", async () => {
    expect(await (await edge({ state: "starting" })).text("/_admin/channels")).toContain(
      'http-equiv="refresh"',
    );
    expect(await (await edge()).text("/_admin/channels")).not.toContain('http-equiv="refresh"');
    expect(await (await edge({ state: "starting" })).text("/_admin/config/edit")).not.toContain(
      'http-equiv="refresh"',
    );
  });
});

describe("the overall state", () => {
  const status = (state: SandboxStatus["state"], more: Partial<SandboxStatus> = {}): SandboxStatus => ({
    state,
    since: "2026-11-23T10:00:00.000Z",
    restarts: 0,
    ...more,
  });
  const details = (more: Partial<GatewayStatus>) => more as GatewayStatus;
  const good = { id: "anthropic/a", state: "ready" as const };
  const bad = { id: "anthropic/b", state: "failing" as const, reason: reason("model_key_invalid") };

  it.each([
    ["Healthy", { status: status("ready"), details: details({ models: [good] }) }],
    ["Degraded", { status: status("ready"), details: details({ models: [good, bad] }) }],
    ["Down", { status: status("ready"), details: details({ models: [bad] }) }],
    [
      "Degraded",
      {
        status: status("ready"),
        details: details({
          channels: [{ platform: "slack", state: "failing", reason: reason("slack_token_expired") }],
        }),
      },
    ],
    [
      "Degraded",
      {
        status: status("ready"),
        details: details({ models: [good] }),
        counts: { waiting: 0, delivering: 0, answered: 5, ignored: 0, failed: 1 },
      },
    ],
    ["Degraded", { status: status("ready"), backups: { problem: reason("backup_refused") } }],
    ["Down", { status: status("crash-looping", { reason: reason("config_invalid") }) }],
    ["Down", { status: status("ready", { silent: reason("gateway_not_ready") }) }],
    ["Down", { status: status("stopped", { volume: reason("disk_full") }) }],
    ["Down", { status: status("ready"), ledger: reason("ledger_unavailable") }],
    ["Degraded", { status: status("ready") }],
    ["Asleep", { status: status("stopped") }],
    ["Starting", { status: status("starting") }],
  ])("is %s", (overall, facts) => {
    expect(judgeHealth(facts).overall).toBe(overall);
  });

  it("puts the worst first, each with the page that helps", () => {
    const { problems } = judgeHealth({
      status: status("crash-looping", { reason: reason("config_invalid") }),
      backups: { problem: reason("backup_failed") },
    });
    expect(problems.map(({ action }) => action.path)).toEqual(["/_admin/config#repairs", "/_admin/backups"]);
  });
});

describe("a problem", () => {
  it("is a page in a browser, with status and policy, and a document for programs", async () => {
    const { look } = await edge();
    const shown = await look("/_admin/nothing-here");
    expect(shown.status).toBe(404);
    expect(shown.headers.get("content-type")).toContain("text/html");
    expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await shown.text()).toContain("No route has this address.");
    const document = await look("/_admin/nothing-here", false);
    expect(await document.json()).toMatchObject({ status: 404, code: "not_found" });
  });

  it("of a debug route stays JSON in a browser too", async () => {
    const { look } = await edge();
    expect(await (await look("/debug/cli?cmd=rm")).json()).toMatchObject({ code: "command_not_allowed" });
  });
});

describe("activity", () => {
  it("lists who changed what, newest first, and nothing before a change", async () => {
    const { press, text } = await edge(operationAnswers(() => ({})));
    expect(await text("/_admin/activity")).toContain("No changes yet.");
    await press("/_admin/devices/approve", "request=slack%3AABCDEFGH");
    await press("/_admin/restart", "");
    const page = await text("/_admin/activity");
    expect(page).toMatch(/Restarted the gateway[\s\S]*Approved[\s\S]*pairing slack ABCDEFGH/);
    expect(page).toContain("operator@example.com");
  });

  it("has commands that change something, and none that only read", async () => {
    const { look, press, text } = await edge();
    await look("/debug/cli?cmd=pairing%20list", false);
    await press("/debug/cli", "cmd=pairing%20revoke%20slack%20U1");
    const page = await text("/_admin/activity");
    expect(page).toContain("pairing revoke slack U1");
    expect(page).not.toContain("pairing list");
  });

  it("does not stop a change that it cannot record", async () => {
    const record = () => Promise.reject(new Error("the disk is full"));
    const { press, requests } = await edge({ activity: { record } });
    expect((await press("/_admin/restart", "")).status).toBe(303);
    expect(requests.map(({ request }) => request.path)).toContain("/restart");
  });
});
