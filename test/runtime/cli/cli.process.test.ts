import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path, { join } from "node:path";
import { expect, test } from "vitest";
import { steward, stewardHere } from "../support/cli.ts";
import { NameStore } from "../../../runtime/edge/ledger/names.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { Sessions } from "../../../runtime/gateway/sessions/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { pairingStore } from "../support/pairing.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

/** A data directory with a config, and a command line over it; no gateway. */
async function commandLine() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const run = (...args: string[]) => stewardHere({ ...SECRETS, STEWARD_HOME: home }, ...args);
  return { home, run, path: join(home, "steward.json") };
}

const INTERNAL = /\bat .*:\d+:\d+|TypeError|undefined/;

test("pairing list: none, a table, JSON", async () => {
  const { home, run } = await commandLine();
  expect(await run("pairing", "list", "telegram")).toEqual({
    code: 0,
    stdout: "No pending telegram pairing requests.\n",
    stderr: "",
  });
  expect(await readdir(home)).toEqual(["steward.json"]);

  const request = pairingStore(home).store.request("U1", { username: "ada\u001b[31m" });
  const { stdout } = await run("pairing", "list", "slack");
  const [head, row, ...rest] = stdout.trimEnd().split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["Code", "Name", "Sender", "Requested"]);
  expect(row?.split(/ {2,}/)).toEqual([request?.code, "ada[31m", "U1", request?.createdAt]);
  expect(rest).toEqual([]);

  const asJson = await run("pairing", "list", "slack", "--json");
  expect(JSON.parse(asJson.stdout)).toEqual({
    channel: "slack",
    requests: [request],
    approved: [],
    operators: [],
  });
});

test("people list: none without a host's directory, then its people", async () => {
  const { home, run } = await commandLine();
  expect((await run("people", "list")).stdout).toBe("No person has written yet.\n");
  const sql = openSqlite(join(home, "state.db"));
  const names = new NameStore(sql);
  names.record([{ key: "telegram:42", kind: "person", name: "Ada Lovelace", admitted: "approval" }], 1_000);
  names.record([{ key: "telegram:-1", kind: "group", name: "Engines" }], 2_000);
  names.record([{ key: "slack:U1", kind: "person" }], 3_000);
  sql.close();
  const { stdout } = await run("people", "list");
  const [head, ...rows] = stdout.trimEnd().split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["Name", "Platform", "Id", "Admitted", "First seen", "Last seen"]);
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ["slack", "U1", "1970-01-01T00:00:03.000Z", "1970-01-01T00:00:03.000Z"],
    ["Ada Lovelace", "telegram", "42", "approval", "1970-01-01T00:00:01.000Z", "1970-01-01T00:00:01.000Z"],
  ]);
  const { people } = JSON.parse((await run("people", "list", "--json")).stdout);
  expect(people.map(({ key }: { key: string }) => key)).toEqual(["slack:U1", "telegram:42"]);
});

test("pairing approve and reject: the texts, JSON, and a code that is not pending", async () => {
  const { home, run } = await commandLine();
  const { store } = pairingStore(home);

  const one = await run("pairing", "approve", "slack", store.request("U1")?.code ?? "", "--json");
  expect(JSON.parse(one.stdout)).toEqual({ channel: "slack", approved: "U1", role: "person" });
  const two = await run("pairing", "reject", "slack", store.request("U2")?.code ?? "", "--json");
  expect(JSON.parse(two.stdout)).toEqual({ channel: "slack", rejected: "U2" });

  const unknown = await run("pairing", "approve", "slack", "ABCDEFGH");
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr.split("\n")[0]).toBe("No pending pairing request found for code: ABCDEFGH");
  const asJson = await run("pairing", "reject", "slack", "ABCDEFGH", "--json");
  expect(asJson.code).toBe(1);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: "pairing_code_unknown" } });
  expect(store.approved()).toEqual(["U1"]);
});

test("an approval tells what it grants and how to grant more; a grant changes it, and lets in by id", async () => {
  const { home, run } = await commandLine();
  const { store } = pairingStore(home);
  const approve = (id: string, ...options: string[]) =>
    run("pairing", "approve", "slack", store.request(id)?.code ?? "", ...options);
  expect((await approve("U1")).stdout).toBe(
    "Approved slack sender U1.\nGranted a person's rights. For an operator's: steward pairing grant slack U1 operator\n",
  );
  expect((await approve("U2", "--operator")).stdout).toBe(
    "Approved slack sender U2.\nGranted an operator's rights. For a person's: steward pairing grant slack U2 person\n",
  );
  expect(["U1", "U2", "U3"].map((id) => store.granted(id))).toEqual(["person", "operator", undefined]);

  // The commands that were printed, and one for somebody who has no code.
  expect(await run("pairing", "grant", "slack", "U1", "operator")).toMatchObject({ code: 0 });
  expect(await run("pairing", "grant", "slack", "U2", "person")).toMatchObject({ code: 0 });
  const asJson = await run("pairing", "grant", "slack", "U3", "person", "--json");
  expect(JSON.parse(asJson.stdout)).toEqual({ channel: "slack", granted: "U3", role: "person" });
  expect(["U1", "U2", "U3"].map((id) => store.granted(id))).toEqual(["operator", "person", "person"]);
  expect((await run("pairing", "list", "slack")).stdout).toContain(
    "Approved slack senders: U1 (operator), U2, U3",
  );

  for (const [sender, role] of [
    ["U1", "guest"],
    ["U1", "group"],
    ["ada", "person"],
    ["4242", "operator"],
    ["U1 U2", "person"],
    ["*", "person"],
  ] as const) {
    expect(await run("pairing", "grant", "slack", sender, role)).toMatchObject({ code: 1, stdout: "" });
  }
  expect(store.approved()).toEqual(["U1", "U2", "U3"]);
});

test("pairing revoke takes an approved sender's access away, and lists show who has it", async () => {
  const { home, run } = await commandLine();
  const { store } = pairingStore(home);
  store.approve(store.request("U1")?.code ?? "");
  store.approve(store.request("U2")?.code ?? "");
  const listed = await run("pairing", "list", "slack");
  expect(listed.stdout).toBe("No pending slack pairing requests.\n\nApproved slack senders: U1, U2\n");

  expect(await run("pairing", "revoke", "slack", "U1")).toMatchObject({
    code: 0,
    stdout: "Revoked slack sender U1.\n",
  });
  expect(store.approved()).toEqual(["U2"]);
  const unknown = await run("pairing", "revoke", "slack", "U1", "--json");
  expect(unknown.code).toBe(1);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "sender_unknown" } });
});

test("sessions reset starts a conversation over and keeps its messages; one that is not there is named", async () => {
  const { home, run } = await commandLine();
  const database = openStore(join(home, "state.db"));
  const sessions = new Sessions(database);
  sessions.append({ session: "slack:T1:C1", delivery: "E1", role: "user", text: "hello", at: 1_000 });
  expect(await run("sessions", "reset", "slack:T1:C1")).toMatchObject({
    code: 0,
    stdout: "Started slack:T1:C1 over.\n",
  });
  expect(sessions.size("slack:T1:C1")).toBe(0);
  expect(JSON.parse((await run("sessions", "list", "--json")).stdout)).toMatchObject({
    sessions: [{ conversation: "slack:T1:C1", messages: 1 }],
  });
  database.close();

  const unknown = await run("sessions", "reset", "slack:T1:C2", "--json");
  expect(unknown.code).toBe(1);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "session_unknown" } });
});

test("what people write commands no terminal, and no line of a message looks like another message", async () => {
  const { home, run } = await commandLine();
  const database = openStore(join(home, "state.db"));
  const sessions = new Sessions(database);
  const text = "\u001b[2Jhi\u202e\n1970-01-01T00:00:01.000Z steward: of course\rno\u009b1m";
  sessions.append({
    session: "slack:T1:C1",
    delivery: "E1",
    role: "user",
    sender: "U1",
    text,
    at: 1_000,
  });
  database.prepare("UPDATE messages SET name = ?").run("Ada\u001b[8m\n1970");
  expect((await run("sessions", "messages", "slack:T1:C1")).stdout).toBe(
    String.raw`1970-01-01T00:00:01.000Z Ada\u001b[8m 1970: \u001b[2Jhi\u202e
  1970-01-01T00:00:01.000Z steward: of course\u000dno\u009b1m
`,
  );
  const asJson = (await run("sessions", "messages", "slack:T1:C1", "--json")).stdout;
  expect(asJson).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  expect(JSON.parse(asJson).messages).toMatchObject([{ text }]);
  const unknown = await run("sessions", "show", "\u001b[2J", "--json");
  expect([unknown.stdout, unknown.stderr].join("")).not.toContain("\u001b");
});

test("a conversation is shown without its messages, with them on request, and deleted with all of them", async () => {
  const { home, run } = await commandLine();
  const database = openStore(join(home, "state.db"));
  const sessions = new Sessions(database);
  for (const conversation of ["slack:T1:C1", "slack:T1:C2"])
    for (const [index, text] of [`plan of ${conversation}`, "x".repeat(3_000)].entries())
      sessions.append({
        session: conversation,
        delivery: `E${index}`,
        role: "user",
        sender: "U1",
        text,
        at: 1_000 + index,
      });
  const shown = await run("sessions", "show", "slack:T1:C1", "--json");
  expect(JSON.parse(shown.stdout)).toEqual({
    conversation: "slack:T1:C1",
    messages: 2,
    inUse: 2,
    firstAt: "1970-01-01T00:00:01.000Z",
    lastAt: "1970-01-01T00:00:01.001Z",
    summarised: false,
  });
  const read = JSON.parse((await run("sessions", "messages", "slack:T1:C1", "--json")).stdout);
  expect(read.messages[0]).toEqual({
    at: "1970-01-01T00:00:01.000Z",
    from: "U1",
    text: "plan of slack:T1:C1",
  });
  expect(read.messages[1].text).toHaveLength(2_000);

  expect(await run("sessions", "delete", "slack:T1:C1")).toMatchObject({
    code: 0,
    stdout: "Deleted slack:T1:C1 with 2 messages.\n",
  });
  expect(JSON.parse((await run("sessions", "list", "--json")).stdout).sessions).toMatchObject([
    { conversation: "slack:T1:C2", messages: 2 },
  ]);
  // Counted as before, so that the next backup is not taken for a loss.
  expect(sessions.counts()).toEqual({ conversations: 2, messages: 4, webChat: 0, answered: 0 });
  database.close();
  const file = await readFile(join(home, "state.db"), "latin1");
  expect([file.includes("plan of slack:T1:C1"), file.includes("plan of slack:T1:C2")]).toEqual([false, true]);
  for (const verb of ["show", "messages", "delete"]) {
    const unknown = await run("sessions", verb, "slack:T1:C1", "--json");
    expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "session_unknown" } });
  }
});

test("another program on the gateway's port is not taken for the gateway", async () => {
  const other = await surroundings();
  await startGateway(other.environment);
  const home = await temporaryDirectory();
  await writeConfig(home);
  const environment = { ...SECRETS, STEWARD_HOME: home, GATEWAY_PORT: String(other.port) };

  const status = await steward(environment, "status");
  expect(status.stdout).toContain(`another program answers at ${other.url}`);
  const health = await steward(environment, "health", "--json");
  expect([health.code, JSON.parse(health.stdout)]).toMatchObject([1, { ready: false }]);
  const own = await steward({ ...environment, STEWARD_HOME: other.home }, "status");
  expect(own.stdout).toContain(`Gateway: ready at ${other.url}`);
});

test("a corrupt store is reported beside the answer", async () => {
  const { home, run } = await commandLine();
  await mkdir(join(home, "credentials"));
  await writeFile(join(home, "credentials", "slack-pairing.json"), "[]");

  const { code, stdout, stderr } = await run("pairing", "list", "slack");

  expect({ code, stdout }).toEqual({ code: 0, stdout: "No pending slack pairing requests.\n" });
  expect(stderr).toContain("slack-pairing.json could not be read");
  expect(stderr).toContain("set aside as");
});

test("config get: short and long paths, defaults, resolved secrets", async () => {
  const { run } = await commandLine();

  for (const path of ["slack.botToken", "channels.slack.botToken"]) {
    expect(await run("config", "get", path)).toMatchObject({
      code: 0,
      stdout: `${SECRETS.SLACK_BOT_TOKEN}\n`,
    });
  }
  expect(await run("config", "get", "slack.dmPolicy")).toMatchObject({ stdout: "pairing\n" });
  expect(await run("config", "get", "sessions.historyLimit")).toMatchObject({ stdout: "60\n" });
  expect(await run("config", "get", "slack.dmPolicy", "--json")).toMatchObject({ stdout: '"pairing"\n' });
  const whole = await run("config", "get", "channels.slack");
  expect(JSON.parse(whole.stdout)).toMatchObject({ botToken: { env: "SLACK_BOT_TOKEN" } });
});

test("config get: a secret in plain text is told by its own path alone", async () => {
  const { home, run } = await commandLine();
  const headers = { "X-Key": "plain-header-value" };
  await writeFile(
    join(home, "steward.json"),
    JSON.stringify({
      channels: { telegram: { botToken: "plain-bot-value", groups: { "-100": {} } } },
      tools: { mcp: { files: { url: "https://mcp.example/", headers } } },
    }),
  );

  for (const path of ["channels", "telegram", "tools", "tools.mcp.files.headers"]) {
    for (const form of [[], ["--json"]]) {
      const { code, stdout } = await run("config", "get", path, ...form);
      expect({ code, text: stdout }).toEqual({ code: 0, text: expect.not.stringMatching(/plain-\w+-value/) });
      expect(stdout).toContain("[redacted]");
    }
  }
  expect(await run("config", "get", "telegram.botToken")).toMatchObject({ stdout: "plain-bot-value\n" });
  const whole = await run("config", "get", "telegram");
  expect(JSON.parse(whole.stdout)).toMatchObject({ groups: { "-100": { enabled: true } }, historyLimit: 20 });
});

test.each([
  "x",
  "slack.nothing",
  "telegram.botToken",
  "slack.dmPolicy.length",
  "constructor",
  "__proto__",
  "",
])("config get %j: no such path", async (path) => {
  const { run } = await commandLine();

  const { code, stdout, stderr } = await run("config", "get", path);

  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.split("\n")[0]).toBe(`Config path not found: ${path}`);
});

test("an invalid config fails get and validate alike, with the whole report", async () => {
  const { home, run, path } = await commandLine();
  await writeConfig(home, { dm: {} }, { extra: 1 });

  for (const args of [["get", "slack.dmPolicy"], ["validate"]]) {
    const { code, stdout, stderr } = await run("config", ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(
      `Invalid config at ${path}:\n- channels.slack: Unrecognized key: "dm" (deprecated: use channels.slack.dmPolicy and allowFrom)\n`,
    );
    expect(stderr).toContain('- (root): Unrecognized key: "extra"\nFix: ');
  }
  const { code, stdout } = await run("config", "validate", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    path,
    valid: false,
    problems: [{ path: "channels.slack" }, {}],
  });
});

test("validation, status and doctor name the risks of * and of no operator, and how to end them", async () => {
  const { home, run } = await commandLine();
  const { store } = pairingStore(home);
  store.approve(store.request("U1")?.code ?? "");
  const codes = async () => {
    const validated = JSON.parse((await run("config", "validate", "--json")).stdout).warnings;
    const told = JSON.parse((await run("status", "--json")).stdout).risks;
    const { findings } = JSON.parse((await run("doctor", "--json")).stdout);
    const found = findings.filter(({ check }: { check: string }) => check === "access");
    const [first, ...others] = [validated, told, found].map((list) =>
      list.map(({ code }: { code: string }) => code),
    );
    for (const other of others) expect(other).toEqual(first);
    for (const { fix } of [...validated, ...told, ...found]) expect(fix).not.toBe("");
    return first;
  };
  expect(await codes()).toEqual(["operator_missing"]);
  const status = await run("status");
  expect(status.stdout).toContain("Access:  agent.operators: Nobody has an operator's rights in a chat.");
  expect(status.stdout).toContain("1 approval grants a person's rights.");

  await writeConfig(home, { dmPolicy: "open", allowFrom: ["*"] });
  expect(await codes()).toEqual(["everyone_let_in", "operator_missing"]);
  const { stderr } = await run("config", "validate");
  expect(stderr).toContain("channels.slack.allowFrom: Everyone who finds the bot on slack");
  expect(stderr).toContain("As a guest they may: readWorkspace, fetchWeb.");

  store.grant("U1", "operator");
  expect(await codes()).toEqual(["everyone_let_in"]);
  await writeConfig(home, { dmPolicy: "disabled", allowFrom: ["*"] });
  expect(await codes()).toEqual([]);
});

test("config validate: a valid file, and none", async () => {
  const { home, run, path } = await commandLine();
  const { store } = pairingStore(home);
  store.grant("U1", "operator");
  expect(await run("config", "validate")).toEqual({
    code: 0,
    stdout: `Config is valid: ${path}\n`,
    stderr: "",
  });
  const valid = await run("config", "validate", "--json");
  expect(JSON.parse(valid.stdout)).toEqual({ path, valid: true, problems: [], warnings: [] });

  const none = await steward({ STEWARD_HOME: await temporaryDirectory() }, "config", "validate");
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no config file at") });
});

test("status: with the gateway up, without its token, and down", async () => {
  const { environment, url, home } = await surroundings();
  const down = await steward(environment, "status", "--json");
  expect(down.code).toBe(0);
  expect(JSON.parse(down.stdout)).toMatchObject({ gateway: { url, ready: false }, config: { valid: false } });

  await startGateway(environment);
  pairingStore(home).store.request("U1");
  const status = () => steward(environment, "status");
  await expect.poll(async () => (await status()).stdout).toContain("Channel: slack ready");
  const up = await status();
  expect(up).toMatchObject({ code: 0, stderr: "" });
  expect(up.stdout).toContain(`Gateway: ready at ${url}`);
  expect(up.stdout).toContain("Pairing: slack 1 pending, 0 approved");

  // As by `docker exec`, where no variable holds the control token: a file does, which only reads the status.
  const inside = { ...environment, STEWARD_CONTROL_TOKEN: "" };
  expect((await steward(inside, "status")).stdout).toContain("Channel: slack ready");
  const file = path.join(home, "status-token");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const authorization = `Bearer ${await readFile(file, "utf8")}`;
  expect((await fetch(`${url}/status`, { headers: { authorization } })).status).toBe(200);
  const refused = await fetch(`${url}/deliveries`, {
    method: "POST",
    headers: { authorization },
    body: "{}",
  });
  expect(refused.status).toBe(401);

  await rm(file);
  const report = JSON.parse((await steward(inside, "status", "--json")).stdout);
  expect(report).toMatchObject({ gateway: { ready: true }, config: { valid: true } });
  expect(report).not.toHaveProperty("details");
});

test("config set: a refused value is named, and nothing is written or has to be deleted", async () => {
  const { run, path: file } = await commandLine();
  const before = await readFile(file, "utf8");
  const { code, stderr } = await run(
    "config",
    "set",
    "schedules.x",
    '{"cron":"daily","text":"hi","to":{"platform":"slack","chat":"C1"}}',
  );
  expect(code).toBe(1);
  expect(stderr).toContain("schedules.x.cron: must be five fields, such as `0 9 * * 1-5`");
  expect(stderr).toContain("Fix: Correct the value. Nothing was written");
  expect(await readFile(file, "utf8")).toBe(before);
});

test.each([
  [["paring"], "Did you mean pairing?"],
  [["pairing", "aprove", "slack", "X"], "Did you mean approve?"],
  [["pairing", "list", "slack", "--jsn"], "Did you mean --json?"],
  [["config", "gett", "x"], "Did you mean get?"],
  [["pairing", "list", "slak"], "Allowed choices are slack, telegram, discord."],
  [["status", "now"], "too many arguments"],
  [["pairing", "approve", "slack"], "missing required argument 'code'"],
])("%j is refused with a hint", async (args, hint) => {
  const { run } = await commandLine();

  const { code, stdout, stderr } = await run(...args);

  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(hint);
});

test.each([
  "steward",
  "steward pairing",
  "steward pairing list",
  "steward pairing approve",
  "steward pairing reject",
  "steward config",
  "steward config get",
  "steward config validate",
  "steward status",
])("help of %s", async (line) => {
  const { run } = await commandLine();

  const { code, stdout } = await run(...line.split(" ").slice(1), "--help");

  expect(code).toBe(0);
  expect(stdout).toContain(`Usage: ${line}`);
});

test("generated lines end with a clear error or an answer, and store nothing", async () => {
  const { home, run } = await commandLine();
  const words = [
    "pairing",
    "list",
    "approve",
    "slack",
    "config",
    "get",
    "--json",
    "-x",
    "--",
    "",
    "..",
    "ä",
    "validate",
    "'; ls",
  ];
  let seed = 11;
  const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;

  for (let line = 0; line < 30; line += 1) {
    const args = Array.from({ length: 1 + next(5) }, () => words[next(words.length)] ?? "");
    const { code, stderr } = await run(...args);
    expect([0, 1], args.join(" ")).toContain(code);
    expect(stderr, args.join(" ")).not.toMatch(INTERNAL);
    expect(stderr !== "", args.join(" ")).toBe(code === 1);
  }
  expect(await readdir(home)).toEqual(["steward.json"]);
});

test("wrong variables are told as the gateway tells them", async () => {
  const { code, stderr } = await steward({ STEWARD_HOME: "data" }, "status");

  expect(code).toBe(1);
  expect(stderr).toContain('STEWARD_HOME: "data" is not an absolute path');
});
