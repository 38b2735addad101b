import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steward } from "../support/cli.ts";
import { writeConfig } from "../support/gateway.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

async function commandLine() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const path = join(home, "steward.json");
  await chmod(path, 0o600);
  const own = { STEWARD_OWN_SECRETS: "OTHER_TOKEN", OTHER_TOKEN: "xoxb-other-0123456789" };
  const environment = { ...SECRETS, ...own, STEWARD_HOME: home, GATEWAY_PORT: "1" };
  const run = (...args: string[]) => steward(environment, ...args);
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
  return { home, path, run, json, read: async () => JSON.parse(await readFile(path, "utf8")) };
}

test("doctor --fix mends deprecated and unknown keys and rights, keeps a copy, and is done after once", async () => {
  const { home, path, run, read } = await commandLine();
  const telegram = { token: "123456:plainsecretvalue", dm: { policy: "allowlist", allowFrom: ["1"] } };
  const old = JSON.stringify({ telegram, agent: { model: "claude-x" }, colour: 1 });
  await writeFile(path, old);
  await chmod(path, 0o644);

  expect(await run("doctor")).toMatchObject({ code: 1, stderr: "" });
  expect(await readFile(path, "utf8")).toBe(old);
  const { code, stdout } = await run("doctor", "--fix");

  expect(code).toBe(0);
  expect(stdout).toContain("fixed: - channels.telegram.dm (use channels.telegram.dmPolicy and allowFrom)");
  expect(stdout).toContain("fixed: - colour (unknown)");
  expect(stdout).not.toContain("plainsecret");
  expect(await read()).toEqual({
    agent: {},
    models: { primary: "anthropic/claude-x" },
    channels: { telegram: { botToken: telegram.token, dmPolicy: "allowlist", allowFrom: ["1"] } },
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const copies = (await readdir(home)).filter((name) => name.startsWith("steward.json.bak-"));
  expect(copies).toHaveLength(1);
  expect(await readFile(join(home, copies[0] ?? ""), "utf8")).toBe(old);
  expect((await stat(join(home, copies[0] ?? ""))).mode & 0o777).toBe(0o600);

  expect((await run("doctor", "--fix")).stdout).not.toContain("mended");
  expect((await readdir(home)).filter((name) => name.includes(".bak-"))).toHaveLength(1);
});

test("doctor --fix writes nothing where the file would still not be valid", async () => {
  const { path, run } = await commandLine();
  const old = JSON.stringify({ colour: 1, models: { primary: "gpt" } });
  await writeFile(path, old);

  const { code, stdout } = await run("doctor", "--fix");

  expect(code).toBe(1);
  expect(stdout).toContain("- models.primary: must be <provider>/<model id>");
  expect(await readFile(path, "utf8")).toBe(old);
});

test.each([
  [
    "people of a group",
    { telegram: { botToken: "1:a", groups: { "-100": { allowFrom: ["1"] } } } },
    "allowFrom",
  ],
  [
    "a group's switch",
    { slack: { botToken: "a", signingSecret: "b", channels: { C1: { allow: false } } } },
    "allow",
  ],
  [
    "a group's topics",
    { telegram: { botToken: "1:a", groups: { "-100": { topics: { 7: {} } } } } },
    "topics",
  ],
  ["people of a channel", { discord: { token: "a", denyFrom: ["1"] } }, "denyFrom"],
])("doctor --fix does not drop an unknown key that may keep people out: %s", async (_, channels, key) => {
  const { path, run } = await commandLine();
  const old = JSON.stringify({ channels, colour: 1 });
  await writeFile(path, old);

  const { code, stdout } = await run("doctor", "--fix");

  expect(await readFile(path, "utf8")).toBe(old);
  expect(code).toBe(1);
  expect(stdout).toContain(`Unrecognized key: "${key}"`);
  expect(stdout).not.toContain("fixed: -");
});

test("doctor tells each finding with code and fix", async () => {
  const { json } = await commandLine();
  const { healthy, findings } = await json("doctor");
  expect(healthy).toBe(true);
  expect(findings).toContainEqual(expect.objectContaining({ check: "config", state: "ok" }));
  expect(findings).toContainEqual(
    expect.objectContaining({ check: "gateway", state: "warning", code: "gateway_unavailable" }),
  );
});

test("config set and unset: checked as a whole before it is written", async () => {
  const { run, json, read, path } = await commandLine();
  const before = await readFile(path, "utf8");

  const open = await run("config", "set", "slack.dmPolicy", "open");
  expect(open.code).toBe(1);
  expect(open.stderr).toContain(
    '- channels.slack.allowFrom: dmPolicy "open" requires allowFrom to include "*"',
  );
  expect((await run("config", "set", "slack.dm", "{}")).stderr).toContain(
    'Unrecognized key: "dm" (deprecated',
  );
  const plain = await run("config", "set", "slack.botToken", "xoxb-1-2-abcdefghijkl", "--json");
  expect(JSON.parse(plain.stdout)).toMatchObject({ error: { code: "secret_in_plain" } });
  expect(plain.stdout + plain.stderr).not.toContain("abcdefghijkl");
  expect((await run("config", "set", "__proto__.x", "1")).code).toBe(1);
  expect((await run("config", "set", "slack.botToken", "--env", "NOT_SET")).code).toBe(1);
  expect(await readFile(path, "utf8")).toBe(before);

  expect(await json("config", "set", "slack.historyLimit", "5")).toEqual({
    path: "slack.historyLimit",
    set: true,
  });
  expect((await run("config", "set", "slack.botToken", "--env", "OTHER_TOKEN")).code).toBe(0);
  expect((await run("config", "set", "slack.allowFrom", '["U1"]')).code).toBe(0);
  expect((await read()).channels.slack).toMatchObject({
    historyLimit: 5,
    botToken: { env: "OTHER_TOKEN" },
    allowFrom: ["U1"],
  });
  expect((await run("config", "unset", "slack.historyLimit")).code).toBe(0);
  expect((await read()).channels.slack).not.toHaveProperty("historyLimit");
  expect((await run("config", "unset", "slack.historyLimit")).code).toBe(1);
});

test("a cron expression that is none is told as the gateway tells it, and not written", async () => {
  const { run, path, read } = await commandLine();
  const before = await readFile(path, "utf8");
  const daily = { cron: "61 8 * * *", text: "hi", to: { platform: "slack", chat: "C1" } };
  const problem = "- schedules.daily.cron: is not a cron expression of five fields";

  const set = await run("config", "set", "schedules.daily", JSON.stringify(daily));
  expect(set).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
  expect(await readFile(path, "utf8")).toBe(before);

  await writeFile(path, JSON.stringify({ ...(await read()), schedules: { daily } }));
  expect(await run("config", "validate")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(problem),
  });
  expect(await run("doctor")).toMatchObject({ code: 1, stdout: expect.stringContaining(problem) });
  expect((await run("status")).stdout).toContain("Config:  not valid");
});

test.each([
  [["health"], 1, { ready: false }],
  [["channels", "status"], 0, { known: false, channels: [{ platform: "slack", state: "unknown" }] }],
  [["sessions", "list"], 0, { sessions: [] }],
  [["usage"], 0, { usage: [] }],
  [["backup", "list"], 0, { backups: [] }],
  [["pairing", "list"], 0, { channels: [{ channel: "slack", requests: [] }, {}, {}] }],
])("%j with the gateway down", async (args, code, expected) => {
  const { run } = await commandLine();
  const answer = await run(...args, "--json");
  expect(answer).toMatchObject({ code, stderr: "" });
  expect(JSON.parse(answer.stdout)).toMatchObject(expected);
});

test("a wrong line is told as JSON too", async () => {
  const { run } = await commandLine();
  const { code, stdout } = await run("pairing", "lst", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "usage_invalid", message: expect.stringContaining("Did you mean list?") },
  });
});
