import { describe, expect, it } from "vitest";
import { reason, StewardError } from "../../../runtime/contract/errors.ts";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";
import type { NameEntry } from "../../../runtime/edge/ports.ts";
import { edgeFixture, operationAnswers, signedIn } from "../../support/edge.ts";
import { TYPED } from "../../support/typed.ts";

type Fixture = Parameters<typeof edgeFixture>[0];

const operator = signedIn();

/** Runs a line as a signed-in operator types it. */
async function run(line: string, options: Fixture = {}) {
  const { jwk, headers } = await operator;
  const edge = edgeFixture({ jwk, ...options });
  const response = await edge.app.request(`/debug/cli?cmd=${encodeURIComponent(line)}`, {
    headers: { ...headers, ...TYPED },
  });
  const asked = edge.requests.map(({ request }) => JSON.parse(request.body ?? "{}"));
  return { ...edge, response, asked };
}

describe("GET /debug/cli", () => {
  it("runs a line in the container and gives what came out", async () => {
    const { answers } = operationAnswers(() => ({ channel: "slack", approved: "U1", role: "person" }));
    const { response, requests } = await run("pairing approve slack ABCDEFGH", { answers });
    expect(await response.json()).toEqual({
      command: "pairing approve slack ABCDEFGH",
      exitCode: 0,
      stdout:
        "Approved slack sender U1.\nGranted a person's rights. For an operator's: steward pairing grant slack U1 operator\n",
      stderr: "",
    });
    const body = JSON.stringify({
      operation: "pairing approve",
      input: { channel: "slack", code: "ABCDEFGH" },
    });
    expect(requests).toEqual([
      { port: "supervisor", request: { method: "POST", path: "/operations", body } },
    ]);
  });

  it("shows people and places by name, with the id after it", async () => {
    const time = "2026-11-18T10:00:00.000Z";
    const called = (id: string, name: string): NameEntry => ({
      key: `telegram:${id}`,
      kind: "person",
      platform: "telegram",
      id,
      name,
      hue: 0,
      firstSeenAt: time,
      lastSeenAt: time,
    });
    const named = [called("42", "Ada Lovelace"), called("-100", "Engines")];
    const requests = [{ id: "42", code: "ABCDEFGH", createdAt: time, meta: { username: "ada" } }];
    const values: Record<string, object> = {
      "pairing list": { channel: "telegram", requests, approved: ["42", "7"], operators: ["42"] },
      "sessions list": {
        sessions: [
          { conversation: "telegram:-100", messages: 2, lastAt: time },
          { conversation: "slack:D1", name: "Eve", messages: 2, lastAt: time },
        ],
      },
      "schedules list": {
        schedules: [
          {
            id: "s1",
            source: "cli",
            to: { platform: "telegram", chat: "-100" },
            every: "1h",
            nextAt: time,
            lastAt: null,
            lastOutcome: null,
          },
        ],
      },
    };
    const { answers } = operationAnswers((_, operation) => values[operation]);
    const shown = async (line: string): Promise<string> => {
      const { response } = await run(line, { answers, named });
      const { stdout } = (await response.json()) as { stdout: string };
      return stdout.replace(/ {2,}/g, " | ");
    };
    const pairing = await shown("pairing list telegram");
    expect(pairing).toContain("ABCDEFGH | Ada Lovelace | 42");
    expect(pairing).toContain("Approved telegram senders: Ada Lovelace (42) (operator), 7");
    const sessions = await shown("sessions list");
    expect(sessions).toContain("Engines | telegram:-100 | 2");
    expect(sessions).toContain("Eve | slack:D1 | 2");
    expect(await shown("schedules list")).toContain("Engines (telegram:-100)");
  });

  it("lists people from the directory, which needs no container", async () => {
    const seen = { firstSeenAt: "2026-11-17T10:00:00.000Z", lastSeenAt: "2026-11-18T10:00:00.000Z", hue: 0 };
    const kind = { kind: "person", platform: "telegram" } as const;
    const named: NameEntry[] = [
      { key: "telegram:42", id: "42", name: "Ada Lovelace", admitted: "approval", ...kind, ...seen },
      { key: "telegram:7", id: "7", ...kind, ...seen },
    ];
    const { response, requests } = await run("people list", { named, state: "stopped" });
    const { stdout } = (await response.json()) as { stdout: string };
    const [, ada, other] = stdout.trim().replace(/ {2,}/g, " | ").split("\n");
    expect(ada).toBe(
      "Ada Lovelace | telegram | 42 | approval | 2026-11-17T10:00:00.000Z | 2026-11-18T10:00:00.000Z",
    );
    expect(other).toContain("| telegram | 7 |");
    expect(requests).toEqual([]);
    const json = await run("people list --json", { named });
    const value = JSON.parse(((await json.response.json()) as { stdout: string }).stdout);
    expect(value.people.map(({ key }: { key: string }) => key)).toEqual(["telegram:42", "telegram:7"]);
  });

  it("tells the directory the names of browsers, and when they were last used", async () => {
    const device = { deviceId: "d1", displayName: "Ada's phone", approvedAtMs: 5, role: "user", scopes: [] };
    const paired = [{ ...device, tokens: { user: { lastUsedAtMs: 7 } } }];
    const { answers } = operationAnswers(() => ({ pending: [], paired }));
    const { noted, response } = await run("devices list", { answers });
    expect(await response.json()).toMatchObject({ exitCode: 0 });
    expect(noted).toEqual([
      { key: "web:d1", kind: "browser", name: "Ada's phone", admitted: "browser", at: 7 },
    ]);
  });

  it("prints the value as JSON where it is asked for, and what people should know beside it", async () => {
    const value = { path: "/x", valid: true, problems: [], warnings: [{ path: "a", detail: "b", fix: "c" }] };
    const answers = { "/operations": () => Response.json({ ok: true, value, notes: "Set aside.\n" }) };
    const text = await run("config validate", { answers });
    expect(await text.response.json()).toMatchObject({
      exitCode: 0,
      stdout: "Config is valid: /x\n",
      stderr: "Set aside.\na: b\nFix: c\n",
    });
    const json = (await (await run("config validate --json", { answers })).response.json()) as {
      stdout: string;
    };
    expect(JSON.parse(json.stdout)).toEqual(value);
    const invalid = operationAnswers(() => ({ ...value, valid: false, report: "Invalid config" }));
    expect(await (await run("config validate", invalid)).response.json()).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Invalid config\nFix: /),
    });
  });

  it("asks a person whose browser proves nothing, and the page's button sends the command", async () => {
    const { jwk, headers } = await operator;
    const { app, requests } = edgeFixture({ jwk });
    const browser = { ...headers, cookie: "session=one" };
    const asked = await app.request("/debug/cli?cmd=pairing+approve+slack+%3Cb%3E", {
      headers: { ...browser, accept: "text/html" },
    });
    const page = await asked.text();
    expect(page).toContain("Continue only if you meant to open this");
    expect(page).toContain('<form method="post" action="/debug/cli">');
    expect(page).toContain('<input type="hidden" name="cmd" value="pairing approve slack &lt;b&gt;"/>');
    expect(requests).toEqual([]);
    const sent = await app.request("http://localhost/debug/cli", {
      method: "POST",
      body: new URLSearchParams({ cmd: "pairing approve slack ABCDEFGH" }),
      headers: { ...browser, origin: "http://localhost" },
    });
    expect(await sent.json()).toMatchObject({ command: "pairing approve slack ABCDEFGH" });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["cat credentials/telegram-pairing.json", "cat", { file: "credentials/telegram-pairing.json" }],
    ["devices list", "devices list", {}],
    ["devices approve 3f1c", "devices approve", { requestId: "3f1c" }],
    ["devices reject 3f1c", "devices reject", { requestId: "3f1c" }],
    ["devices revoke 3f1c", "devices revoke", { deviceId: "3f1c" }],
    ["devices approve 3f1c --operator", "devices approve", { requestId: "3f1c", operator: true }],
    ["devices grant 3f1c person", "devices grant", { deviceId: "3f1c", role: "person" }],
    ["pairing list", "pairing list", {}],
    ["pairing list telegram --json", "pairing list", { channel: "telegram" }],
    ["pairing reject slack ABCDEFGH", "pairing reject", { channel: "slack", code: "ABCDEFGH" }],
    [
      "pairing grant slack U1 operator",
      "pairing grant",
      { channel: "slack", sender: "U1", role: "operator" },
    ],
    ["config get slack.dmPolicy", "config get", { path: "slack.dmPolicy" }],
    ["config get -- --json", "config get", { path: "--json" }],
    ["config validate --json", "config validate", {}],
    ["status", "status", {}],
    ["channels status", "channels status", {}],
    ["sessions list", "sessions list", {}],
    ["sessions reset slack:T1:C1", "sessions reset", { conversation: "slack:T1:C1" }],
    ["schedules list", "schedules list", {}],
    [
      "schedules add --to=slack:C1 --every 1h --text --json",
      "schedules add",
      { to: "slack:C1", every: "1h", text: "--json" },
    ],
    ["workspace write A none -- --json", "workspace write", { file: "A", expected: "none", text: "--json" }],
    ["doctor", "doctor", {}],
    ["doctor --fix", "doctor", { fix: true }],
  ])("allows: %s", async (line, operation, input) => {
    const { response, asked } = await run(line);
    expect(response.status).toBe(200);
    expect(asked).toEqual([{ operation, input }]);
  });

  it.each([
    "cat",
    "cat a b",
    "config get",
    "config get --plain",
    "pairing approve slack",
    "pairing approve irc ABCDEFGH",
    "pairing approve slack ABCDEFGH extra",
    "pairing approve slack ABCDEFGH --all",
    "pairing reject slack ABCDEFGH --operator",
    "pairing grant slack U1",
    "devices approve ''",
    "doctor --fix --all",
    "doctor -- --fix",
    "status --fix",
    "status && id",
    "schedules add",
  ])("refuses with 400, the form and what it does, without asking the container: %j", async (line) => {
    const { response, requests } = await run(line, { state: "stopped" });
    expect(response.status).toBe(400);
    expect(requests).toEqual([]);
    const { code, detail } = (await response.json()) as Record<string, string>;
    expect(code).toBe("usage_invalid");
    expect(detail).toMatch(/\nUsage: (?:steward )?\w+.*\n\w+/);
  });

  it.each([
    ["", "cat <file>, devices list"],
    ["ls", "cat <file>, devices list"],
    ["sh -c id", "cat <file>, devices list"],
    ["cats", "cat <file>, devices list"],
    ["status --help", "status; each"],
    ["schedules", "schedules list, schedules add"],
    ["schedules add --help", "schedules list, schedules add"],
    ["schedules add --to slack:C1 --every 1h --text x --thread 1", "schedules list, schedules add"],
    ["cat ../secret", "cat <file>; each"],
    ["cat credentials/../../secret", "cat <file>; each"],
    ["config set agent.name x", "config get <path>, config validate; each"],
    ["devices approve --help", "devices list, devices approve"],
    ["backup restore 00000001-00000001", "backup list, backup create"],
    ["completion bash", "cat <file>, devices list"],
    ["status; id", "cat <file>, devices list"],
    ["status\nid", "cat <file>, devices list"],
    ["status 'open", "cat <file>, devices list"],
    [`config get ${"a".repeat(2_000)}`, "cat <file>, devices list"],
  ])(
    "refuses with 400 and the list of the group that is meant, without asking the container: %j",
    async (line, allowed) => {
      const { response, requests } = await run(line, { state: "stopped" });
      expect(response.status).toBe(400);
      expect(requests).toEqual([]);
      expect(response.headers.get("content-type")).toContain("application/problem+json");
      const { code, detail, fix } = (await response.json()) as Record<string, string>;
      expect(code).toBe("command_not_allowed");
      expect(detail).toContain(` Allowed are: ${allowed}`);
      expect(fix).toBeTruthy();
    },
  );

  it.each([
    [`cat "a b.json"`, "a b.json"],
    [`cat 'a "b".json'`, 'a "b".json'],
    ["  cat   a ", "a"],
    ["cat $HOME/*.json", "$HOME/*.json"],
    ["cat a`id`", "a`id`"],
  ])("takes words apart with quotes and expands nothing: %s", async (line, file) => {
    expect((await run(line)).asked).toEqual([{ operation: "cat", input: { file } }]);
  });

  it.each([
    ["backup list", /^Id +Made .*\n00000001-00000001 .* 40\n$/],
    ["backup create", /^Backup 00000001-00000001 was created, 12345 bytes\.\n$/],
    ["backup verify 00000001-00000001", /is complete\.\nIt contains 9 files, 2 sessions, /],
  ])("runs %s on the deployment's own backups, not the container's folder", async (line, printed) => {
    const { response, asked } = await run(line, { state: "stopped" });
    expect(await response.json()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(printed) });
    const asJson = (await (await run(`${line} --json`)).response.json()) as { stdout: string };
    expect(JSON.stringify(JSON.parse(asJson.stdout))).toContain('"id":"00000001-00000001"');
    expect(asked).toEqual([]);
  });

  it("records a backup that was verified, as proof that it can be restored", async () => {
    const recorded: object[] = [];
    const activity = { record: async (entry: object) => void recorded.push(entry) };
    await run("backup verify 00000001-00000001", { activity });
    expect(recorded).toMatchObject([{ action: "verify", detail: "00000001-00000001" }]);
    const verify = async () => {
      throw new StewardError("backup_corrupt");
    };
    await run("backup verify 00000001-00000001", { activity, backups: { verify } });
    expect(recorded).toHaveLength(1);
  });

  it("tells a backup's refusal as the command line does", async () => {
    const refused = async () => {
      throw new StewardError("backup_refused", "messages fell from 40 to 5");
    };
    const { response } = await run("backup create --json", { backups: { create: refused } });
    const { exitCode, stdout, stderr } = (await response.json()) as Record<string, string>;
    expect([response.status, exitCode]).toEqual([200, 1]);
    expect(JSON.parse(stdout ?? "")).toMatchObject({ error: { code: "backup_refused" } });
    expect(stderr).toMatch(/^messages fell from 40 to 5\nFix: /);
  });

  it("is told apart from a command that failed: that one is 200 with its exit code", async () => {
    const failed = operationAnswers(() => ({ error: reason("pairing_code_unknown", "No pending request") }));
    const { response } = await run("pairing approve slack X", failed);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/^No pending request\nFix: /),
    });
    const late = operationAnswers(() => ({ error: reason("command_timed_out") }));
    expect(await (await run("status", late)).response.json()).toMatchObject({ exitCode: 124 });
  });

  it("hands on the supervisor's own refusal, and says when there is no supervisor", async () => {
    const outside = () => problemResponse(problem("command_not_allowed", "outside"));
    const refused = await run("cat /etc/passwd", { answers: { "/operations": outside } });
    expect(refused.response.status).toBe(400);
    expect(await refused.response.json()).toMatchObject({ code: "command_not_allowed", detail: "outside" });
    const down = await run("status", {
      answers: { "/operations": () => new Response(null, { status: 500 }) },
    });
    expect(down.response.status).toBe(503);
    expect(await down.response.json()).toMatchObject({ code: "gateway_unavailable" });
    const broken = () => {
      throw new Error("connection refused");
    };
    const away = await run("status", { answers: { "/operations": broken } });
    expect(await away.response.json()).toMatchObject({ status: 503, code: "gateway_unavailable" });
    const old = await run("status", {
      answers: { "/operations": () => new Response(null, { status: 404 }) },
    });
    expect(await old.response.json()).toMatchObject({ detail: expect.stringContaining("an older version") });
    const busy = () => problemResponse(problem("commands_busy"));
    const { response } = await run("status", { answers: { "/operations": busy } });
    expect(await response.json()).toMatchObject({ status: 429, code: "commands_busy" });
  });

  it("keeps in the log who ran what", async () => {
    const { logged } = await run("pairing approve slack ABCDEFGH");
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      {
        message: "operator runs a command",
        by: "operator@example.com",
        command: "pairing approve slack ABCDEFGH",
      },
    ]);
  });

  it("refuses what another site's page asks for, also with an identity", async () => {
    const { jwk, headers } = await operator;
    const { app, requests } = edgeFixture({ jwk });
    const response = await app.request("/debug/cli?cmd=status", {
      headers: { ...headers, "sec-fetch-site": "cross-site" },
    });
    expect([response.status, requests]).toEqual([403, []]);
    expect(await response.json()).toMatchObject({ code: "cross_site" });
  });
});
