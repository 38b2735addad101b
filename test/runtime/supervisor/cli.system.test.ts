import { once } from "node:events";
import { createServer } from "node:net";
import { chmod, link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CliResult } from "../../../runtime/contract/control.ts";
import { runCommand } from "../../../runtime/supervisor/run-command.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { ask, surroundings } from "../support/gateway.ts";
import { CONTROL_TOKEN, eventually, SECRETS, startRuntime } from "../support/processes.ts";
import { freePort } from "../../support/ports.ts";

const PLAIN = 'plain-"quoted"-secret';

/** The container's main process, whose gateway cannot start: that is when the command line is needed. */
async function container(config: unknown = { unknown: 1 }, extra: Record<string, string> = {}) {
  const { home, environment } = await surroundings();
  const port = await freePort();
  const text = typeof config === "string" ? config : JSON.stringify(config);
  await writeFile(join(home, "steward.json"), text);
  const process = startRuntime("supervisor/main.ts", {
    ...environment,
    ...extra,
    SUPERVISOR_PORT: String(port),
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() =>
    ask(`${url}/status`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const post = (body: unknown) =>
    ask(`${url}/cli`, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  const run = async (...words: string[]) => {
    const response = await post({ words });
    expect(response.status).toBe(200);
    return (await response.json()) as CliResult;
  };
  return { home, post, run, process, url };
}

test("commands work while the gateway is dead, with their exit code", async () => {
  const { home, run } = await container();
  const createdAt = new Date().toISOString();
  const waiting = { id: "U0STRANGER", code: "ABCDEFGH", createdAt, lastSeenAt: createdAt };
  await mkdir(join(home, "credentials"), { recursive: true });
  const file = join(home, "credentials", "slack-pairing.json");
  await writeFile(file, JSON.stringify({ version: 1, requests: [waiting] }));

  expect((await run("pairing", "list")).stdout).toContain("ABCDEFGH");
  expect((await run("cat", "credentials/slack-pairing.json")).stdout).toContain("U0STRANGER");
  expect(await run("pairing", "approve", "slack", "ABCDEFGH")).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^Approved slack sender U0STRANGER\.\nGranted a person/),
    stderr: "",
  });
  const again = await run("pairing", "approve", "slack", "ABCDEFGH");
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("No pending pairing request") });
  expect(await run("devices", "list")).toMatchObject({ exitCode: 0, stdout: "No device pairing entries.\n" });
  const { exitCode, stdout } = await run("config", "validate", "--json");
  expect([exitCode, JSON.parse(stdout).valid]).toEqual([1, false]);
});

test("no answer holds a secret, wherever it comes from", async () => {
  const config = {
    channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: PLAIN } },
    gateway: { token: { env: "MY_GATEWAY_TOKEN" } },
  };
  const token = "my-own-gateway-token-0123456789";
  const { home, run } = await container(config, {
    MY_GATEWAY_TOKEN: token,
    STEWARD_OWN_SECRETS: "MY_GATEWAY_TOKEN",
  });
  await mkdir(join(home, "workspace"));
  await writeFile(
    join(home, "workspace/note.txt"),
    `the token is ${token}, the key ${SECRETS.ANTHROPIC_API_KEY}`,
  );
  const answers = [
    await run("config", "get", "slack.botToken"),
    await run("config", "get", "slack.signingSecret"),
    await run("config", "get", "gateway.token", "--json"),
    await run("config", "get", "channels"),
    await run("cat", "steward.json"),
    await run("workspace", "show", "note.txt"),
    await run("status"),
  ];
  expect(answers.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(answers[0]?.stdout).toBe("[redacted]\n");
  const told = answers.map(({ stdout, stderr }) => stdout + stderr).join("\n");
  for (const secret of [...Object.values(SECRETS), CONTROL_TOKEN, token, PLAIN, 'plain-\\"quoted'])
    expect(told).not.toContain(secret);
});

test("a secret that is too short to be looked for is masked where it is the answer", async () => {
  const { run } = await container({
    channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: "ab" } },
  });
  for (const flags of [[], ["--json"]])
    expect(await run("config", "get", "slack.signingSecret", ...flags)).toMatchObject({
      exitCode: 0,
      stdout: "[redacted]\n",
    });
});

test("a config of former times shows no secret that the one of today does not know", async () => {
  const { home, run } = await container();
  const server = { command: "x", env: { REGION: "an-old-value-in-plain" } };
  await writeFile(join(home, "steward.json.bak-1"), JSON.stringify({ tools: { mcp: { old: server } } }));
  const { stdout } = await run("cat", "steward.json.bak-1");
  expect(stdout).toContain('"REGION": "[redacted]"');
});

test("no more than four commands run at the same time", async () => {
  const { post } = await container();
  const asked = Array.from({ length: 8 }, () => post({ words: ["devices", "list"] }));
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(4);
  expect(refused.length).toBeGreaterThan(0);
  expect(await refused[0]?.json()).toMatchObject({ code: "commands_busy" });
  expect((await post({ words: ["devices", "list"] })).status).toBe(200);
});

const SERVER = {
  command: "npx",
  args: ["-y", "a-server", "--api-key", "hidden-1", "--password=hidden-2"],
  env: { REGION: "hidden-3" },
  headers: { "X-Plain": "hidden-4" },
  url: "https://me:hidden-5@a.example/mcp?k=hidden-6",
};
const WITH_SECRETS = JSON.stringify({ tools: { mcp: { own: SERVER } } }, null, 2);

test("of a config every secret is left out, by the place that it has", async () => {
  const { run } = await container(WITH_SECRETS);
  const { exitCode, stdout } = await run("cat", "steward.json");
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    {
      tools: {
        mcp: {
          own: {
            command: "npx",
            args: ["-y", "a-server", "--api-key", "[redacted]", "--password=[redacted]"],
            env: { REGION: "[redacted]" },
            headers: { "X-Plain": "[redacted]" },
            url: "https://[redacted]@a.example/mcp?k=[redacted]",
          },
        },
      },
    },
  ]);
});

test.each([
  ["a comma too many", WITH_SECRETS.replace(/\n\}$/, ",\n}"), "line 23, column 1"],
  ["a comment", `// hidden-7\n${WITH_SECRETS}`, "line 1, column 1"],
  ["a comma missing", WITH_SECRETS.replace('"npx",', '"npx"'), "line 6, column 9"],
  ["a quote that is not closed", WITH_SECRETS.replace('hidden-3"', "hidden-3"), "line 14, column 30"],
  ["no quotes", "{tools: {mcp: {own: {env: {A: hidden-1 hidden-2}}}}}", "line 1, column 2"],
  ["a secret where a key stands", '{"hidden-1": 1, "token" "hidden-2": hidden-3', "line 1, column 25"],
  ["nothing but a secret", "hidden-1", "line 1, column 1"],
])("of a config with %s the form is shown, with the place and no value", async (_name, text, place) => {
  const { run } = await container(text);
  const { exitCode, stdout, stderr } = await run("cat", "steward.json");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(place)]);
  expect(stderr).toMatch(/^cat: steward\.json: Not valid JSON: .*\. Its values are left out\.\n$/);
  expect(stdout + stderr).not.toMatch(/hidden|npx|a-server|Plain|REGION/);
});

test("cat shows configs and pairing files, and for another kind of file the operation that shows it", async () => {
  const { home, post } = await container();
  await mkdir(join(home, "workspace"));
  const token = "a-token-that-works";
  for (const file of ["status-token", "workspace/note.md", "credentials.json", "state.db", "alerts.json"])
    await writeFile(join(home, file), token);
  for (const file of ["status-token", "workspace/note.md", "credentials.json", "state.db", "alerts.json"]) {
    const response = await post({ words: ["cat", file] });
    const said = await response.text();
    expect([file, response.status, said]).toEqual([
      file,
      400,
      expect.stringContaining("workspace show <file>"),
    ]);
    expect(said).not.toContain(token);
  }
});

test("cat reads regular files of the data directory and nothing that leads out of it", async () => {
  const { home, run, post } = await container();
  const { home: outside } = await surroundings();
  const name = (file: string) => `steward.json.${file}`;
  await writeFile(join(outside, "secret"), '"outside"');
  await writeFile(join(home, name("copy")), '"inside"');
  await writeFile(join(home, name("large")), "x".repeat(1024 * 1024 + 1));
  await writeFile(join(home, name("binary")), new Uint8Array([1, 0, 2]));
  await mkdir(join(home, name("folder")));
  await symlink(join(outside, "secret"), join(home, name("link")));
  await symlink(outside, join(home, "credentials"));
  await writeFile(join(outside, "slack-pairing.json"), '"outside"');
  await link(join(outside, "secret"), join(home, name("hard")));
  const socket = createServer().listen(join(home, name("socket")));
  await once(socket, "listening");

  const inside = { exitCode: 0, stdout: '"inside"\n', stderr: "" };
  expect(await run("cat", name("copy"))).toEqual(inside);
  expect(await run("cat", join(home, name("copy")))).toEqual(inside);
  const failures = {
    [name("missing")]: "no such file",
    [name("link")]: "links are not followed",
    "credentials/slack-pairing.json": "links are not followed",
    [name("hard")]: "links are not followed",
    [name("folder")]: "not a regular file",
    [name("socket")]: "it cannot be read",
    [name("large")]: "larger than 1048576 bytes",
    [name("binary")]: "not a text file",
  };
  for (const [file, why] of Object.entries(failures))
    expect(await run("cat", file)).toEqual({ exitCode: 1, stdout: "", stderr: `cat: ${file}: ${why}\n` });
  socket.close();
  for (const file of ["/etc/passwd", "../secret", `${home}-other/secret`, "."]) {
    const response = await post({ words: ["cat", file] });
    expect([file, response.status]).toEqual([file, 400]);
    expect(await response.json()).toMatchObject({ code: "command_not_allowed" });
  }
});

test("the control API holds the list itself and wants a body of its form", async () => {
  const { post } = await container();
  for (const words of [["config", "set", "a", "b"], ["node"], [], ["status", "--verbose"]])
    expect(await (await post({ words })).json()).toMatchObject({ code: "command_not_allowed", status: 400 });
  for (const body of ["", "{", "{}", '{"words": "status"}', `{"words": ["${"a".repeat(140_000)}"]}`])
    expect(await (await post(body)).json()).toMatchObject({ code: "body_invalid", status: 400 });
});

/** A program in place of the command line. */
const program = (source: string, timeLimitMs = 20_000) =>
  runCommand({
    command: [process.execPath, "--eval", source],
    environment: {},
    redact: (text) => text.replaceAll("SECRET", "[redacted]"),
    timers: systemTimers,
    timeLimitMs,
  });

test("a command that takes too long is stopped and says so", async () => {
  const { exitCode, stdout, stderr } = await program(
    "console.log('begun'); setInterval(() => {}, 1000)",
    1_000,
  );
  expect([exitCode, stdout]).toEqual([124, "begun\n"]);
  expect(stderr).toBe("The command did not end within 1 s and was stopped.\n");
});

test("output is cut between lines, so that no piece of a secret is left", async () => {
  const { exitCode, stdout, stderr } = await program(
    "console.log('SECRET'.repeat(1e6)); console.error('an ordinary line\\n'.repeat(1e5)); process.exitCode = 3",
  );
  expect([exitCode, stdout]).toEqual([3, "\n[cut: the output is longer]\n"]);
  expect(stderr.length).toBeLessThan(257 * 1024);
  expect(stderr).toMatch(/^an ordinary line\n[^]*\[cut: the output is longer\]\n$/);
});

test("an empty output stays empty, also beside a secret that is set to the empty value", async () => {
  const { run } = await container(undefined, { TELEGRAM_BOT_TOKEN: "" });
  expect(await run("pairing", "approve", "slack", "ZZZZZZZZ")).toMatchObject({ stdout: "" });
});

test("doctor finds no rights to mend after a backup, and mends those that somebody has widened", async () => {
  const { home, run, post, url } = await container({ agent: {} });
  await chmod(join(home, "steward.json"), 0o600);
  const backup = await ask(`${url}/generations`, {
    method: "POST",
    body: JSON.stringify({ id: "00000001-00000001" }),
  });
  expect(backup.status).toBe(200);
  expect((await run("doctor")).stdout).not.toContain("Others may use");
  await chmod(join(home, "steward.json"), 0o644);
  expect((await run("doctor")).stdout).toContain("Others may use");
  expect((await post({ words: ["doctor", "--fix"] })).status).toBe(200);
  expect((await run("doctor")).stdout).not.toContain("Others may use");
});
