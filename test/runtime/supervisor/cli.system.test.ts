import { once } from "node:events";
import { createServer } from "node:net";
import { chmod, link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OperationReply } from "../../../runtime/contract/control.ts";
import { runBoundedCommand } from "../../../runtime/supervisor/run-command.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { ask, surroundings } from "../support/gateway.ts";
import { CONTROL_TOKEN, eventually, SECRETS, startRuntime } from "../support/processes.ts";
import { processTree } from "../../support/measure.ts";
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
    ask(`${url}/operations`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const run = async (operation: string, input: object = {}) => {
    const response = await post({ operation, input });
    expect(response.status).toBe(200);
    return (await response.json()) as OperationReply;
  };
  const value = async (operation: string, input: object = {}) => {
    const reply = await run(operation, input);
    expect(reply).toMatchObject({ ok: true });
    return JSON.stringify({ value: null, ...reply });
  };
  return { home, post, run, value, process, url };
}

test("operations work while the gateway is dead", async () => {
  const { home, run, value } = await container();
  const createdAt = new Date().toISOString();
  const waiting = { id: "U0STRANGER", code: "ABCDEFGH", createdAt, lastSeenAt: createdAt };
  await mkdir(join(home, "credentials"), { recursive: true });
  const file = join(home, "credentials", "slack-pairing.json");
  await writeFile(file, JSON.stringify({ version: 1, requests: [waiting] }));

  expect(await value("pairing list")).toContain("ABCDEFGH");
  expect(await value("cat", { file: "credentials/slack-pairing.json" })).toContain("U0STRANGER");
  const approval = { channel: "slack", code: "ABCDEFGH" };
  expect(await run("pairing approve", approval)).toEqual({
    ok: true,
    value: { channel: "slack", approved: "U0STRANGER", role: "person" },
    notes: "",
  });
  const again = await run("pairing approve", approval);
  expect(again).toMatchObject({ ok: false, error: { code: "pairing_code_unknown" } });
  expect(await run("devices list")).toMatchObject({ value: { pending: [], paired: [] } });
  expect(await run("config validate")).toMatchObject({ value: { valid: false } });
});

test("no answer holds a secret, wherever it comes from", async () => {
  const config = {
    channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: PLAIN } },
    gateway: { token: { env: "MY_GATEWAY_TOKEN" } },
  };
  const token = "my-own-gateway-token-0123456789";
  const { home, run, value } = await container(config, {
    MY_GATEWAY_TOKEN: token,
    STEWARD_OWN_SECRETS: "MY_GATEWAY_TOKEN",
  });
  await mkdir(join(home, "workspace"));
  await writeFile(
    join(home, "workspace/note.txt"),
    `the token is ${token}, the key ${SECRETS.ANTHROPIC_API_KEY}`,
  );
  const botToken = await run("config get", { path: "slack.botToken" });
  expect(botToken).toEqual({ ok: true, value: "[redacted]", notes: "" });
  const answers = [
    JSON.stringify(botToken),
    await value("config get", { path: "slack.signingSecret" }),
    await value("config get", { path: "gateway.token" }),
    await value("config get", { path: "channels" }),
    await value("cat", { file: "steward.json" }),
    await value("workspace show", { file: "note.txt" }),
    await value("status"),
  ];
  const told = answers.join("\n");
  for (const secret of [...Object.values(SECRETS), CONTROL_TOKEN, token, PLAIN, 'plain-\\"quoted'])
    expect(told).not.toContain(secret);
});

test("a secret that is too short to be looked for is masked where it is the answer", async () => {
  const { run } = await container({
    channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: "ab" } },
  });
  expect(await run("config get", { path: "slack.signingSecret" })).toMatchObject({ value: "[redacted]" });
});

test("a config of former times shows no secret that the one of today does not know", async () => {
  const { home, value } = await container();
  const server = { command: "x", env: { REGION: "an-old-value-in-plain" } };
  await writeFile(join(home, "steward.json.bak-1"), JSON.stringify({ tools: { mcp: { old: server } } }));
  const shown = await value("cat", { file: "steward.json.bak-1" });
  expect(shown).toContain(String.raw`\"REGION\": \"[redacted]\"`);
});

test("no more than four operations run at the same time", async () => {
  const { post } = await container();
  const asked = Array.from({ length: 8 }, () => post({ operation: "devices list", input: {} }));
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(4);
  expect(refused.length).toBeGreaterThan(0);
  expect(await refused[0]?.json()).toMatchObject({ code: "commands_busy" });
  expect((await post({ operation: "devices list", input: {} })).status).toBe(200);
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
  const { value } = (await run("cat", { file: "steward.json" })) as { value?: { text: string } };
  expect(JSON.parse(value?.text ?? "")).toEqual({
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
  });
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
  const reply = await run("cat", { file: "steward.json" });
  expect(reply).toMatchObject({ ok: true, notes: expect.stringContaining(place) });
  expect(reply.notes).toMatch(/^cat: steward\.json: Not valid JSON: .*\. Its values are masked\.\n$/);
  expect(JSON.stringify(reply)).not.toMatch(/hidden|npx|a-server|Plain|REGION/);
});

test("cat shows configs and pairing files, and for another kind of file the operation that shows it", async () => {
  const { home, post } = await container();
  await mkdir(join(home, "workspace"));
  const token = "a-token-that-works";
  for (const file of ["status-token", "workspace/note.md", "credentials.json", "state.db", "alerts.json"])
    await writeFile(join(home, file), token);
  for (const file of ["status-token", "workspace/note.md", "credentials.json", "state.db", "alerts.json"]) {
    const response = await post({ operation: "cat", input: { file } });
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

  for (const file of [name("copy"), join(home, name("copy"))])
    expect(await run("cat", { file })).toEqual({ ok: true, value: { text: '"inside"\n' }, notes: "" });
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
    expect(await run("cat", { file })).toMatchObject({
      ok: false,
      error: { code: "file_unreadable", message: `cat: ${file}: ${why}` },
    });
  socket.close();
  for (const file of ["/etc/passwd", "../secret", `${home}-other/secret`, "."]) {
    const response = await post({ operation: "cat", input: { file } });
    expect([file, response.status]).toEqual([file, 400]);
    expect(await response.json()).toMatchObject({ code: "command_not_allowed" });
  }
});

test("the control API holds the list itself, checks the input, and wants a body of its form", async () => {
  const { post } = await container();
  const refused: [body: object, code: string][] = [
    [{ operation: "config set", input: { path: "a", value: "b" } }, "command_not_allowed"],
    [{ operation: "node", input: {} }, "command_not_allowed"],
    [{ operation: "toString", input: {} }, "command_not_allowed"],
    [{ operation: null }, "command_not_allowed"],
    [{ operation: "schedules add", input: { to: "slack:C1", thread: "1" } }, "command_not_allowed"],
    [{ operation: "cat", input: { file: "../x" } }, "command_not_allowed"],
    [{ operation: "status", input: { verbose: true } }, "usage_invalid"],
    [{ operation: "status" }, "usage_invalid"],
    [{ operation: "sessions reset", input: { conversation: 1 } }, "usage_invalid"],
  ];
  for (const [body, code] of refused)
    expect(await (await post(body)).json(), JSON.stringify(body)).toMatchObject({ code, status: 400 });
  const long = { operation: "cat", input: { file: "a".repeat(140_000) } };
  for (const body of ["", "{", "{}", "[]", '"status"', JSON.stringify(long)])
    expect(await (await post(body)).json()).toMatchObject({ code: "body_invalid", status: 400 });
});

test("what an operation is given stands in no list of processes", async () => {
  const { home, post, process } = await container();
  const seen: string[] = [];
  const text = "a-text-that-somebody-wrote";
  const isSeen = () => seen.some((line) => line.includes("--request"));
  // A process may be over between two looks.
  for (let count = 0; count < 20 && !isSeen(); count += 1) {
    const input = { file: `${count}.md`, expected: "none", text };
    const progress = { isOver: false };
    const asked = post({ operation: "workspace write", input }).finally(() => (progress.isOver = true));
    while (!progress.isOver) {
      for (const pid of processTree(process.pid))
        seen.push(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
    }
    expect(await (await asked).json()).toMatchObject({ ok: true });
  }
  expect(isSeen()).toBe(true);
  expect(seen.join("\n")).not.toContain(text);
  expect(await readFile(join(home, "workspace", "0.md"), "utf8")).toBe(text);
});

/** A program in place of the command line. */
const program = (source: string, timeLimitMs = 20_000) =>
  runBoundedCommand({
    command: [process.execPath, "--eval", source],
    environment: {},
    redact: (text) => text.replaceAll("SECRET", "[redacted]"),
    timers: systemTimers,
    timeLimitMs,
  });

test("a command that takes too long is stopped and says so", async () => {
  const { exitCode, stdout, stderr } = await program(
    "console.log('begun'); setInterval(() => {}, 1000)",
    5_000,
  );
  expect([exitCode, stdout]).toEqual([124, "begun\n"]);
  expect(stderr).toBe("The command did not end within 5 s and was stopped.\n");
});

test("output is cut between lines, so that no piece of a secret is left", async () => {
  const { exitCode, stdout, stderr } = await program(
    "console.log('SECRET'.repeat(1e6)); console.error('an ordinary line\\n'.repeat(1e5)); process.exitCode = 3",
  );
  expect([exitCode, stdout]).toEqual([3, "\n[cut: the output is longer]\n"]);
  expect(stderr.length).toBeLessThan(257 * 1024);
  expect(stderr).toMatch(/^an ordinary line\n[^]*\[cut: the output is longer\]\n$/);
});

test("an empty note stays empty, also beside a secret that is set to the empty value", async () => {
  const { run } = await container(undefined, { TELEGRAM_BOT_TOKEN: "" });
  const reply = await run("pairing approve", { channel: "slack", code: "ZZZZZZZZ" });
  expect(reply).toMatchObject({ ok: false, error: { code: "pairing_code_unknown" }, notes: "" });
});

test("doctor finds no rights to mend after a backup, and mends those that somebody has widened", async () => {
  const { home, value, run, url } = await container({ agent: {} });
  await chmod(join(home, "steward.json"), 0o600);
  const backup = await ask(`${url}/generations`, {
    method: "POST",
    body: JSON.stringify({ id: "00000001-00000001" }),
  });
  expect(backup.status).toBe(200);
  expect(await value("doctor")).not.toContain("Other users can access");
  await chmod(join(home, "steward.json"), 0o644);
  expect(await value("doctor")).toContain("Other users can access");
  expect(await run("doctor", { fix: true })).toMatchObject({ ok: true });
  expect(await value("doctor")).not.toContain("Other users can access");
});
