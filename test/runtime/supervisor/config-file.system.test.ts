import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ConfigRefusal, ConfigText, SandboxStatus } from "../../../runtime/contract/control.ts";
import { freePort } from "../../support/ports.ts";
import { ask, surroundings } from "../support/gateway.ts";
import { CONTROL_TOKEN, eventually, SECRETS, startRuntime } from "../support/processes.ts";

const PLAIN = "a-signing-secret-in-plain";
const SLACK = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: PLAIN };
const write = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const SHOWN_SLACK = { ...SLACK, signingSecret: "[redacted]" };
const REFERRED_SLACK = { ...SLACK, signingSecret: { env: "SLACK_SIGNING_SECRET" } };

/** The container's main process over a config file, and its control API. */
async function container(text: string | undefined) {
  const { home, environment } = await surroundings();
  const port = await freePort();
  const path = join(home, "steward.json");
  if (text !== undefined) await writeFile(path, text);
  startRuntime("supervisor/main.ts", { ...environment, SUPERVISOR_PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  const status = async () => (await (await ask(`${url}/status`)).json()) as SandboxStatus;
  const inState = (state: SandboxStatus["state"]) =>
    eventually(async () => (await status().catch(() => undefined))?.state === state);
  await eventually(() => status().catch(() => undefined));
  const read = async (as = "file") => (await (await ask(`${url}/config-file?as=${as}`)).json()) as ConfigText;
  const put = (body: string, expected: string, more = "") =>
    ask(`${url}/config-file?expected=${expected}${more}`, { method: "PUT", body });
  const fresh = (expected: string) =>
    ask(`${url}/config-file/fresh?expected=${expected}`, { method: "POST" });
  const file = () => readFile(path, "utf8");
  const copies = async () => (await readdir(home)).filter((name) => name.startsWith("steward.json.bak-"));
  return { home, path, url, status, inState, read, put, fresh, file, copies, environment };
}

async function refusal(response: Response) {
  return { status: response.status, ...((await response.json()) as ConfigRefusal & { code: string }) };
}

describe("GET /config-file", () => {
  it("redacts every literal secret, names their places and leaves references", async () => {
    const text = `{ "channels": {"slack": ${JSON.stringify(SLACK)}},
      "tools": {"mcp": {"search": {"url": "https://mcp.example.com", "headers": {"X-Key": "abc"}}}},
      "agent": {"instructions": "The key is ${SECRETS.ANTHROPIC_API_KEY}."},
      "gateway": {"token": "abc"} }`;
    const { read } = await container(text);
    const shown = await read();
    expect(shown.sha256).toBe(sha256(text));
    expect(JSON.parse(shown.text ?? "")).toEqual(
      JSON.parse(
        text
          .replace(PLAIN, "[redacted]")
          .replaceAll("abc", "[redacted]")
          .replace(SECRETS.ANTHROPIC_API_KEY, "[redacted]"),
      ),
    );
    expect(shown.secrets).toEqual([
      "channels.slack.signingSecret",
      "tools.mcp.search.headers.X-Key",
      "agent.instructions",
      "gateway.token",
    ]);
  });

  it("shows a file without secrets as it is, also one that is no JSON", async () => {
    const text = `{ "channels": {"slack": ${JSON.stringify(REFERRED_SLACK)}},\n"agent": {"maxSteps": 7}`;
    for (const file of [`${text}}`, `${text},}`]) {
      const { read } = await container(file);
      expect(await read()).toEqual({ text: file, sha256: sha256(file) });
    }
  });

  it("redacts a value that is a secret elsewhere", async () => {
    const { read } = await container(
      write({ gateway: { token: "abc" }, agent: { instructions: "abc", timeout: "5m" } }),
    );
    expect(JSON.parse((await read()).text ?? "")).toEqual({
      gateway: { token: "[redacted]" },
      agent: { instructions: "[redacted]", timeout: "5m" },
    });
  });

  it("shows no secret of a file that is no JSON", async () => {
    const { read } = await container(
      `{"channels": {"slack": {"signingSecret": "${PLAIN}",, botToken: bare-secret, 'token': 'it is'\n"apiKey": "cut-off`,
    );
    const { text, secrets } = await read();
    expect(text).not.toMatch(/plain|bare-secret|it is|cut-off/);
    expect(text).toContain('"signingSecret": "[redacted]",,');
    expect(secrets).toEqual([""]);
  });

  it("shows no secret of a key that stands twice", async () => {
    const { read } = await container(
      `{"gateway": {"token": "${PLAIN}", "token": {"env": "SLACK_BOT_TOKEN"}}}`,
    );
    const { text, secrets } = await read();
    expect(text).not.toContain(PLAIN);
    expect(secrets).toEqual([""]);
  });

  it("tells what doctor and a start without a file would make, and that there is none", async () => {
    const old = { channels: { slack: { ...SLACK, dm: { policy: "open", allowFrom: ["*"] } } } };
    const { read } = await container(write(old));
    expect((await read("mended")).text).toBe(
      write({ channels: { slack: { ...SHOWN_SLACK, allowFrom: ["*"], dmPolicy: "open" } } }),
    );
    expect(JSON.parse((await read("fresh")).text ?? "")).toMatchObject({
      channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" } } },
    });
    expect((await read("fresh")).sha256).toBe(sha256(write(old)));
    const moved = await container(write({ gateway: { token: SECRETS.SLACK_SIGNING_SECRET } }));
    expect((await moved.read("mended")).secrets).toEqual(["gateway.token"]);
    const held = { ...SLACK, signingSecret: SECRETS.SLACK_SIGNING_SECRET };
    const mended = await (await container(write({ channels: { slack: held } }))).read("mended");
    expect(mended).toMatchObject({ text: write({ channels: { slack: REFERRED_SLACK } }), problems: [] });
    expect(mended.secrets).toBeUndefined();
    expect(await read("other")).toMatchObject({ code: "query_invalid" });
  });
});

describe("PUT /config-file", () => {
  it("mends a gateway that cannot start, and keeps the file before beside it", async () => {
    const before = write({ channels: { slack: { ...SLACK, dm: {} } } });
    const { inState, put, file, path, copies, home } = await container(before);
    await inState("crash-looping");
    const response = await put(write({ channels: { slack: REFERRED_SLACK } }), sha256(before));

    const after = write({ channels: { slack: REFERRED_SLACK } });
    expect([response.status, await response.json()]).toEqual([200, { text: after, sha256: sha256(after) }]);
    expect(await file()).toBe(after);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const [copy = "", ...others] = await copies();
    expect(others).toEqual([]);
    expect(await readFile(join(home, copy), "utf8")).toBe(before);
    await inState("ready");
  });

  it("is taken over by a gateway that runs", async () => {
    const { inState, read, put, environment } = await container(undefined);
    await inState("ready");
    const { text, sha256: expected } = await read();
    const changed = { ...(JSON.parse(text ?? "") as object), models: { primary: "anthropic/another" } };
    expect((await put(write(changed), expected ?? "")).status).toBe(200);
    await eventually(async () => {
      const status = await ask(`http://127.0.0.1:${environment.GATEWAY_PORT}/status`);
      return ((await status.json()) as { model: { id: string } }).model.id === "anthropic/another";
    });
  });

  it("tells all problems at once and writes nothing, unless it is not to be checked", async () => {
    const before = write({ channels: {} });
    const { put, file, copies } = await container(before);
    const to = { platform: "slack", chat: "C1" };
    const wrong = { agent: { maxSteps: 0, name: "x" }, gateway: { token: { env: "NOT_SET" } } };
    expect(await refusal(await put(write(wrong), sha256(before)))).toMatchObject({
      status: 422,
      code: "config_invalid",
      problems: [
        {
          path: "agent.maxSteps",
          line: 3,
          help: "Maximum number of requests to the model for one answer. This limits loops of tool calls.",
        },
        {
          path: "agent",
          message: 'Unrecognized key: "name"',
          line: 4,
          help: "Keys here: instructions, workspaceMaxChars, maxSteps, timeout, noticeAfter, operators, may, limits, heartbeat.",
        },
        {
          path: "gateway.token",
          line: 7,
          message: expect.stringContaining(
            "Environment variable NOT_SET is not set (set: ANTHROPIC_API_KEY, ",
          ),
        },
      ],
    });
    const schedules = { daily: { cron: "61 * * * *", text: "x", to } };
    expect(await refusal(await put(write({ schedules }), sha256(before)))).toMatchObject({
      problems: [{ path: "schedules.daily.cron" }],
    });
    expect(await refusal(await put("{", sha256(before)))).toMatchObject({ problems: [{ path: "" }] });
    expect([await file(), await copies()]).toEqual([before, []]);

    expect((await put("{", sha256(before), "&unchecked=true")).status).toBe(200);
    expect(await file()).toBe("{");
  });

  it("says which key was probably meant in place of all keys, and where JSON breaks off", async () => {
    const before = write({ channels: {} });
    const { put } = await container(before);
    const wrong = write({ channels: { telegram: { grops: { "-1": {} } } } });
    expect((await refusal(await put(wrong, sha256(before)))).problems).toContainEqual({
      path: "channels.telegram",
      message: 'Unrecognized key: "grops"; did you mean "groups"?',
      line: 4,
    });
    const cut = await refusal(await put('{\n  "agent": {\n    "maxSteps": 7,\n  }\n}\n', sha256(before)));
    expect(cut.problems).toMatchObject([{ line: 4, message: expect.stringContaining("Not valid JSON") }]);
  });

  it("checks without writing", async () => {
    const before = write({ channels: {} });
    const { put, file, copies } = await container(before);
    const response = await put(write({ agent: {} }), sha256(before), "&write=false");
    expect([response.status, await file(), await copies()]).toEqual([200, before, []]);
  });

  it("refuses a file that is another by now", async () => {
    const before = write({ channels: {} });
    const { put, fresh, file } = await container(before);
    for (const expected of ["none", sha256("another")]) {
      expect(await refusal(await put("{}", expected))).toMatchObject({ status: 409, code: "config_changed" });
      expect(await refusal(await fresh(expected))).toMatchObject({ status: 409, code: "config_changed" });
    }
    expect((await put("{}", "latest")).status).toBe(400);
    expect(await file()).toBe(before);
  });

  it("takes no new secret in plain text, and does not say it again", async () => {
    const before = write({ channels: { slack: SLACK } });
    const { put, file } = await container(before);
    const text = write({ channels: { slack: REFERRED_SLACK }, gateway: { token: "typed-by-hand" } });
    const answer = await refusal(await put(text, sha256(before)));
    expect(answer.problems).toEqual([
      { path: "gateway.token", line: 13, message: expect.stringContaining("in plain text") },
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/typed-by-hand|in-plain/);
    expect(answer.text).toContain('"token": "[redacted]"');
    // What is shown in its place cannot be saved as if it were the secret.
    expect((await put(answer.text, sha256(before))).status).toBe(422);
    expect(await file()).toBe(before);
  });

  it("shows no secret to a text that has its redacted form elsewhere", async () => {
    const before = write({ channels: { slack: SLACK } });
    const { put, file } = await container(before);
    const text = write({ agent: { instructions: "[redacted]" } });
    const answer = await refusal(await put(text, sha256(before)));
    expect(answer.problems).toEqual([{ path: "agent.instructions", line: 3, message: expect.any(String) }]);
    expect(JSON.stringify(answer)).not.toContain(PLAIN);
    expect(await file()).toBe(before);
  });

  it("has a limit", async () => {
    const { put } = await container(write({}));
    const long = write({ agent: { instructions: "é".repeat(140_000) } });
    expect((await put(long, sha256(write({})))).status).toBe(413);
    expect((await put(long + long, sha256(write({})), "&unchecked=true")).status).toBe(400);
  });
});

it("POST /config-file/fresh has the gateway write a new file, and keeps the old one", async () => {
  const before = write({ unknown: 1 });
  const { inState, fresh, file, copies, home } = await container(before);
  await inState("crash-looping");
  expect((await fresh(sha256(before))).status).toBe(202);
  await inState("ready");
  expect(JSON.parse(await file())).toMatchObject({ channels: { slack: {} } });
  const [copy = ""] = await copies();
  expect(await readFile(join(home, copy), "utf8")).toBe(before);
});

it("the config file's routes want the control token", async () => {
  const { url } = await container(write({}));
  for (const [method, path] of [
    ["GET", "/config-file"],
    ["PUT", `/config-file?expected=${sha256(write({}))}`],
    ["POST", "/config-file/fresh?expected=none"],
  ] as const) {
    const headers = { authorization: `Bearer ${CONTROL_TOKEN}x` };
    expect((await fetch(`${url}${path}`, { method, headers })).status).toBe(401);
  }
});
