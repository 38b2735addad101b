import { describe, expect, it } from "vitest";
import { reason, StewardError } from "../../../runtime/contract/errors.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { signAsStack, STACK_SIGNATURE_HEADER } from "../../../runtime/contract/stack-signature.ts";
import { askAsStack } from "../../../infra/readiness/ask-as-stack.ts";
import { PER_MINUTE } from "../../../runtime/edge/rate-limit.ts";
import { edgeFixture, NOW, STACK_KEY } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const LIST = ROUTES.stackBackups;
const MINUTE_MS = 60_000;

/** A signed request, with what is different about it. */
async function ask(
  fixture: ReturnType<typeof edgeFixture>,
  route: { method: string; path: string } = LIST,
  { key = STACK_KEY, at = NOW, signed = route }: { key?: string; at?: number; signed?: typeof route } = {},
): Promise<Response> {
  const headers = { [STACK_SIGNATURE_HEADER]: await signAsStack(key, signed, at) };
  return fixture.app.request(`${HOST}${route.path}`, { method: route.method, headers });
}

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

describe("what the stack signs", () => {
  it("lists, makes and checks backups, and is kept by no cache", async () => {
    const recorded: object[] = [];
    const record = async (entry: object) => void recorded.push(entry);
    const fixture = edgeFixture({ state: "stopped", activity: { record } });
    const list = await ask(fixture);
    expect(list.headers.get("cache-control")).toBe("no-store");
    expect(await list.json()).toEqual({ backups: [expect.objectContaining({ id: "00000001-00000001" })] });
    const made = await ask(fixture, ROUTES.stackBackupsCreate);
    expect(await made.json()).toMatchObject({ backup: { id: "00000001-00000001" } });
    const checked = await ask(fixture, ROUTES.stackBackupsVerify);
    expect(await checked.json()).toMatchObject({
      backup: { id: "00000001-00000001" },
      report: { configProblems: [] },
    });
    expect(recorded).toEqual([{ by: "the stack", action: "verify", detail: "00000001-00000001" }]);
  });

  it("tells how its channels are doing, and wakes no stopped container for it", async () => {
    const asleep = edgeFixture({ state: "stopped" });
    expect(await (await ask(asleep, ROUTES.stackChannels)).json()).toEqual({ state: "stopped" });
    expect(asleep.wakes).toEqual([]);
    expect(await (await ask(edgeFixture(), ROUTES.stackChannels)).json()).toMatchObject({
      state: "ready",
      channels: [{ platform: "slack", state: "failing", reason: { code: "slack_token_expired" } }],
    });
  });

  it("tells which variables the config names and what is wrong with it, and wakes no stopped container for it", async () => {
    const token = { path: "channels.slack.botToken", name: "SLACK_BOT_TOKEN" };
    const slack = { botToken: { env: "SLACK_BOT_TOKEN" } };
    const own = { baseUrl: "https://user:secret@llm.example/v1?key=secret", apiKey: { env: "OWN_KEY" } };
    const config = {
      channels: { slack, discord: { enabled: false, token: { env: "OFF" } } },
      models: { providers: { own } },
    };
    const key = { path: "models.providers.own.apiKey", name: "OWN_KEY", baseUrl: "https://llm.example/v1" };
    const found = { references: [token, key] };
    const problems = [{ path: "agent", message: "unknown key" }];
    const running = edgeFixture({ answers: { "/config": () => Response.json({ config, problems }) } });
    expect(await (await ask(running, ROUTES.stackConfigVariables)).json()).toEqual({ ...found, problems });
    const missing = { config: null, missing: true, problems };
    const unwritten = edgeFixture({ answers: { "/config": () => Response.json(missing) } });
    expect(await (await ask(unwritten, ROUTES.stackConfigVariables)).json()).toEqual({
      references: [],
      problems: [],
    });
    const backups = { cachedConfig: async () => JSON.stringify(config) };
    const asleep = edgeFixture({ state: "stopped", backups });
    expect(await (await ask(asleep, ROUTES.stackConfigVariables)).json()).toEqual(found);
    expect(asleep.wakes).toEqual([]);
    for (const text of [undefined, "{", "null", "[]"]) {
      const unreadable = edgeFixture({ state: "stopped", backups: { cachedConfig: async () => text } });
      expect(await (await ask(unreadable, ROUTES.stackConfigVariables)).json()).toEqual({ references: [] });
    }
  });

  it("gets a record of events that the gateway has redacted, where the operator has consented", async () => {
    const asked: string[] = [];
    const answers = {
      "/replay": ({ body = "" }) => {
        asked.push(body);
        return Response.json({ form: 1 });
      },
    };
    let limit = 0;
    const recent = async (most: number) => {
      limit = most;
      return ['{"id":"a"}', undefined];
    };
    const fixture = edgeFixture({ replayEvents: 7, ledger: { recent }, answers });
    expect(await (await ask(fixture, ROUTES.stackReplay)).json()).toEqual({ form: 1 });
    expect([limit, asked]).toEqual([7, ['{"deliveries":[{"id":"a"},null]}']]);

    const refused = await ask(edgeFixture({ ledger: { recent }, answers }), ROUTES.stackReplay);
    expect([refused.status, await codeOf(refused), asked.length]).toEqual([403, "replay_not_allowed", 1]);
    const down = { "/replay": () => Promise.reject(new Error("no gateway")) };
    const failed = await ask(edgeFixture({ replayEvents: 7, answers: down }), ROUTES.stackReplay);
    expect(await codeOf(failed)).toBe("gateway_unavailable");
  });

  it("tries alerts only where some are configured", async () => {
    expect(await (await ask(edgeFixture(), ROUTES.stackAlerts)).json()).toEqual({ tried: false });
  });

  it("is refused for another route, under another key, and where none is deployed", async () => {
    const elsewhere = await ask(edgeFixture(), ROUTES.stackBackupsCreate, { signed: LIST });
    expect([elsewhere.status, await codeOf(elsewhere)]).toEqual([403, "stack_signature_invalid"]);
    expect((await ask(edgeFixture(), LIST, { key: "another-key" })).status).toBe(403);
    expect((await ask(edgeFixture({ stackKey: null }))).status).toBe(403);
    const query = await ask(edgeFixture(), { ...LIST, path: `${LIST.path}?x=1` }, { signed: LIST });
    expect(query.status).toBe(403);
  });

  it("is refused 5 minutes before and after its time", async () => {
    const statuses = [-6, -4, 0, 4, 6].map(async (minutes) => {
      return (await ask(edgeFixture(), LIST, { at: NOW + minutes * MINUTE_MS })).status;
    });
    expect(await Promise.all(statuses)).toEqual([403, 200, 200, 200, 403]);
  });

  it("is accepted once, for what only reads and for what changes something, also while it is valid", async () => {
    for (const route of [LIST, ROUTES.stackBackupsCreate]) {
      const fixture = edgeFixture();
      expect((await ask(fixture, route)).status).toBe(200);
      const again = await ask(fixture, route);
      expect([again.status, await codeOf(again)]).toEqual([403, "stack_signature_used"]);
      expect((await ask(fixture, { ...route, path: `${route.path}?nonce=2` })).status).toBe(200);
    }
  });

  it("is used up by no request that it is not right for", async () => {
    const fixture = edgeFixture();
    expect((await ask(fixture, ROUTES.stackBackupsCreate, { signed: LIST })).status).toBe(403);
    expect((await ask(fixture, LIST)).status).toBe(200);
  });

  it("is one request's each time that the stack asks, though all of them are of one second", async () => {
    const fixture = edgeFixture({ clock: Date.now });
    const fetch = async (input: string | URL | Request, init?: RequestInit) =>
      fixture.app.request(String(input), init);
    const question = { url: HOST, key: STACK_KEY, route: LIST, timeoutMs: MINUTE_MS, fetch };
    const asked = await Promise.all(Array.from({ length: 5 }, () => askAsStack(question)));
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it("is refused in every other form", async () => {
    const right = await signAsStack(STACK_KEY, LIST, NOW);
    for (const header of [
      "",
      "x",
      right.toUpperCase(),
      `${right}0`,
      right.slice(0, -1),
      right.replace(/v1=../, "v1=zz"),
    ]) {
      const headers = { [STACK_SIGNATURE_HEADER]: header };
      expect([header, (await edgeFixture().app.request(`${HOST}${LIST.path}`, { headers })).status]).toEqual([
        header,
        403,
      ]);
    }
  });

  it("passes also where a client has met the limit of wrong ones", async () => {
    const fixture = edgeFixture();
    for (let count = 0; count < PER_MINUTE.refusedWebhooks; count += 1) {
      await fixture.app.request(`${HOST}${LIST.path}`);
    }
    const refused = await fixture.app.request(`${HOST}${LIST.path}`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
    expect((await ask(fixture)).status).toBe(200);
  });

  it("tells why a backup was not made", async () => {
    const stale = { problem: reason("backup_stale", "the newest is of yesterday") };
    const told = await ask(edgeFixture({ backups: { status: async () => stale } }));
    expect(await told.json()).toMatchObject({
      problem: { code: "backup_stale", detail: stale.problem.detail },
    });
    const create = () => Promise.reject(new StewardError("backup_refused"));
    const refused = await ask(edgeFixture({ backups: { create } }), ROUTES.stackBackupsCreate);
    expect(await codeOf(refused)).toBe("backup_refused");
    const none = await ask(edgeFixture({ backups: { list: async () => [] } }), ROUTES.stackBackupsVerify);
    expect(await codeOf(none)).toBe("backup_unknown");
  });
});
