import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { fixOf, reason } from "../../../runtime/contract/errors.ts";
import { problem } from "../../../runtime/contract/problem.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { verifyStackSignature, STACK_SIGNATURE_HEADER } from "../../../runtime/contract/stack-signature.ts";

const PROBE = join(import.meta.dirname, "../../../infra/readiness/probe.ts");
const RUN_MS = 60_000;
const OTHER_WEBHOOKS = Object.values(ROUTES)
  .filter(({ access, path }) => access === "webhook" && path !== "/slack/events")
  .map(({ path }) => path);
const PRIVATE = Object.values(ROUTES)
  .filter(({ access }) => access === "identity")
  .map(({ path }) => path);

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A deployed service as it should be; `answers` changes some of its routes. */
async function service(answers: Record<string, RequestListener> = {}): Promise<string> {
  const refuse: RequestListener = (_request, response) => response.writeHead(403).end();
  const routes: Record<string, RequestListener> = {
    ...Object.fromEntries([...OTHER_WEBHOOKS, ...PRIVATE].map((path) => [path, refuse])),
    "/healthz": (_request, response) => response.end("ok"),
    "/slack/events": async (request, response) => {
      const { challenge } = JSON.parse(await text(request));
      response.setHeader("content-type", "application/json").end(JSON.stringify({ challenge }));
    },
    "/debug/processes": (_request, response) => response.writeHead(302, { location: "/login" }).end(),
    "/debug/container-config": (_request, response) =>
      response.writeHead(500).end('{"code":"access_not_configured"}'),
    ...answers,
  };
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    return routes[path]?.(request, response);
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function probe(url: string, environment: Record<string, string> = {}, input = "") {
  const child = spawn(process.execPath, [PROBE], {
    env: { PROBE_URL: url, PROBE_TIMEOUT_MS: "1500", ...environment },
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}

describe("the readiness probe", () => {
  test(
    "ends well with a line for each check",
    async () => {
      const result = await probe(await service());

      expect(result.code).toBe(0);
      expect(result.stdout.trim().split("\n")).toEqual([
        "ok   GET /healthz",
        "ok   POST /slack/events with a url_verification",
        `ok   ${OTHER_WEBHOOKS.length} webhooks reject unsigned requests`,
        `ok   ${new Set(PRIVATE).size} pages and debug routes are closed without an identity`,
      ]);
    },
    RUN_MS,
  );

  test(
    "waits for a service that needs a moment, and prints in the order of the checks all the same",
    async () => {
      let asked = 0;
      const url = await service({
        "/healthz": (_request, response) => response.writeHead(++asked < 2 ? 502 : 200).end(),
      });

      const { code, stdout } = await probe(url, { PROBE_TIMEOUT_MS: "20000" });
      expect({ code, asked }).toEqual({ code: 0, asked: 2 });
      expect(stdout).toMatch(/^ok {3}GET \/healthz\n/);
    },
    RUN_MS,
  );

  test(
    "waits until the bundle answers that was deployed, and fails where it is another one",
    async () => {
      let asked = 0;
      const readyz: RequestListener = (_request, response) =>
        response.writeHead(503).end(JSON.stringify({ bundle: ++asked < 2 ? "before" : "after" }));
      const url = await service({ "/readyz": readyz });

      const found = await probe(url, { PROBE_BUNDLE: "after", PROBE_TIMEOUT_MS: "20000" });
      expect(found).toMatchObject({ code: 0 });
      expect(found.stdout).toContain("ok   GET /readyz from the code that was deployed\n");
      const { code, stderr } = await probe(url, { PROBE_BUNDLE: "next", PROBE_STACK: "acme/dev" });
      expect(code).toBe(1);
      expect(stderr).toContain("GET /readyz from the code that was deployed: bundle after, expected next");
      expect(stderr).toContain("Run `pulumi up -s acme/dev` again");
    },
    RUN_MS,
  );

  test(
    "waits until the secrets answer that were deployed, and fails where they are others or none",
    async () => {
      let asked = 0;
      const readyz: RequestListener = (_request, response) =>
        response.writeHead(503).end(JSON.stringify({ attestation: ++asked < 2 ? "old" : "new" }));
      const url = await service({ "/readyz": readyz });

      const found = await probe(url, { PROBE_ATTESTATION: "new", PROBE_TIMEOUT_MS: "20000" });
      expect(found).toMatchObject({ code: 0 });
      expect(found.stdout).toContain("ok   GET /readyz with the secrets that were deployed\n");
      expect(await probe(url, { PROBE_ATTESTATION: "next" })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          "GET /readyz with the secrets that were deployed: attestation new, expected next",
        ),
      });
      const without = await service({ "/readyz": (_request, response) => response.writeHead(503).end("{}") });
      expect((await probe(without, { PROBE_ATTESTATION: "next" })).stderr).toContain("attestation none,");
    },
    RUN_MS,
  );

  test.each<[string, Record<string, RequestListener>, string]>([
    [
      "is not well",
      { "/healthz": (_request, response) => response.writeHead(500).end() },
      "GET /healthz: status 500, expected 200",
    ],
    [
      "keeps its webhooks to itself",
      { "/slack/events": (_request, response) => response.writeHead(401).end() },
      `POST /slack/events with a url_verification: status 401, expected 200 with the challenge. ${fixOf("slack_url_unverified")}`,
    ],
    [
      "answers another challenge",
      { "/slack/events": (_request, response) => response.end('{"challenge":"another"}') },
      "POST /slack/events with a url_verification: the response does not contain the challenge",
    ],
    [
      "takes an update that Telegram did not send",
      { "/telegram-webhook": (_request, response) => response.end() },
      "POST /telegram-webhook without a signature: status 200, expected a refusal",
    ],
    [
      "keeps Telegram's webhook to itself",
      {
        "/telegram-webhook": (_request, response) =>
          response.writeHead(401).end('{"code":"webhooks_private"}'),
      },
      "POST /telegram-webhook without a signature: the webhook is not public",
    ],
    [
      "lets everyone into the admin pages",
      { "/_admin/": (_request, response) => response.end("welcome") },
      "GET /_admin/ without an identity: status 200: it is open to everyone",
    ],
    [
      "is broken behind its admin pages",
      { "/_admin/": (_request, response) => response.writeHead(502).end() },
      "GET /_admin/ without an identity: status 502, expected 302, 401 or 403",
    ],
    [
      "lets everyone look into the container",
      { "/debug/processes": (_request, response) => response.end("{}") },
      "GET /debug/processes without an identity: status 200: it is open to everyone",
    ],
  ])(
    "fails for a service that %s, and says so",
    async (_what, answers, reason) => {
      const url = await service(answers);
      const result = await probe(url);

      expect(result.code).toBe(1);
      expect(result.stderr).toBe(`${url} failed these checks:\n  ${reason}\n`);
    },
    RUN_MS,
  );

  test(
    "expects a private webhook to be closed",
    async () => {
      const variant = { PROBE_PUBLIC_WEBHOOKS: "false" };
      const open = await service({ "/slack/events": (_request, response) => response.end() });
      expect((await probe(open, variant)).stderr).toContain("status 200: the webhook is not closed");
      const shut = await service({ "/slack/events": (_request, response) => response.writeHead(401).end() });
      expect((await probe(shut, variant)).code).toBe(0);
    },
    RUN_MS,
  );

  test(
    "fails when nothing listens",
    async () => {
      const result = await probe("http://127.0.0.1:9");

      expect(result.code).toBe(1);
      expect(result.stderr).toContain("GET /healthz: no answer (");
    },
    RUN_MS,
  );

  test(
    "does not ask for public webhooks where they are private",
    async () => {
      const url = await service({ "/slack/events": (_request, response) => response.writeHead(401).end() });

      expect(await probe(url, { PROBE_PUBLIC_WEBHOOKS: "false" })).toMatchObject({ code: 0 });
    },
    RUN_MS,
  );
});

describe("channels that have to work", () => {
  const KEY = "key-of-the-stack";
  const { path } = ROUTES.stackChannels;

  /** What the probe says of Slack where the service answers so; `answer` sees the request's signature. */
  async function told(answers: object, key = KEY) {
    const url = await service({
      [path]: async (request, response) => {
        const signature = String(request.headers[STACK_SIGNATURE_HEADER]);
        const signed = { method: "GET", path: request.url ?? "" };
        const right =
          request.method === "GET" && (await verifyStackSignature(key, signed, signature, Date.now()));
        response.setHeader("content-type", "application/json");
        response.writeHead(right ? 200 : 403).end(JSON.stringify(answers));
      },
    });
    return probe(url, { PROBE_CHANNELS: "slack" }, KEY);
  }

  test.each<[string, object, number, string]>([
    [
      "works",
      { state: "ready", channels: [{ platform: "slack", state: "ready" }] },
      0,
      "ok   channel slack\n",
    ],
    [
      "has a token that expired",
      {
        state: "ready",
        channels: [{ platform: "slack", state: "failing", reason: reason("slack_token_expired") }],
      },
      1,
      "channel slack: Slack refuses the bot token",
    ],
    [
      "is out of the platform's reach",
      {
        state: "ready",
        channels: [{ platform: "slack", state: "failing", reason: reason("channel_failed", "no answer") }],
      },
      0,
      "note channel slack: no answer\n",
    ],
    [
      "is not on",
      { state: "ready", channels: [] },
      1,
      "channel slack: is not on, although its credentials are deployed",
    ],
    [
      "is switched off by the file",
      { state: "ready", channels: [{ platform: "slack", state: "disabled" }] },
      0,
      "note channel slack: switched off in steward.json\n",
    ],
    [
      "is in a container that is asleep",
      { state: "stopped" },
      0,
      "note channel slack: skipped: the container is asleep\n",
    ],
    [
      "is behind a gateway that is still starting",
      { state: "starting" },
      0,
      "note channel slack: unknown: the gateway is starting\n",
    ],
    [
      "is behind a gateway that cannot start",
      { state: "crash-looping", reason: reason("config_invalid", "Unrecognized key") },
      0,
      "note channel slack: unknown: the gateway is crash-looping (config_invalid): Unrecognized key\n",
    ],
  ])(
    "one that %s",
    async (_, answer, code, line) => {
      const result = await told(answer);

      expect(result.code).toBe(code);
      expect(code === 0 ? result.stdout : result.stderr).toContain(line);
    },
    RUN_MS,
  );

  test(
    "the key is needed, and stands in no output",
    async () => {
      const { code, stdout, stderr } = await told({ state: "ready", channels: [] }, "another-key");

      expect(code).toBe(1);
      expect(stderr).toContain("channel slack: status 403");
      expect(stdout + stderr).not.toContain(KEY);
    },
    RUN_MS,
  );

  test.each<[number, object, string]>([
    [200, { tried: true }, "ok   alerts\n"],
    [
      502,
      problem("alerts_failed", "slack: answered with 404"),
      "alerts: slack: answered with 404 (alerts_failed). Correct",
    ],
  ])(
    "alerts that the service answers with %i are tried once",
    async (status, body, line) => {
      let asked = 0;
      const url = await service({
        [ROUTES.stackAlerts.path]: (_request, response) => {
          asked += 1;
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        },
      });
      const { code, stdout, stderr } = await probe(
        url,
        { PROBE_ALERTS: "true", PROBE_TIMEOUT_MS: "2500" },
        KEY,
      );

      expect([code, asked]).toEqual([status === 200 ? 0 : 1, 1]);
      expect(stdout + stderr).toContain(line);
    },
    RUN_MS,
  );
});
