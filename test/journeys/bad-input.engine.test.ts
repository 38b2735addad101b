import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Hono } from "hono";
import { listen, type Listening } from "../../rehearsal/standins/serve.ts";
import { problem, problemResponse } from "../../runtime/contract/problem.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { freePort } from "../support/ports.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { vaultSecrets } from "../support/vault.ts";
import { openShell, succeed, type, type Shell } from "./typed.ts";

/**
 * Every command that asks Cloudflare, in every state in which it cannot answer. `drift` and `backup` ask for what is
 * deployed, which is nothing here. A stack that does not exist, a missing CLI, login, plugin and passphrase:
 * refusals.engine.test.ts.
 */
const COMMANDS: [line: string, refusal: 401 | 403][] = [
  ["npm run --silent preview -- dev --json", 401],
  ["npm run --silent rollout -- dev --yes --json", 403],
  ["npm run --silent orphans -- dev --json", 401],
  ["npm run --silent orphans -- dev --remove x --json", 403],
  ["npm run --silent migrate -- dev --worker-name another --json", 403],
];

let checkout: Checkout;
let shell: Shell;
let account: Listening;
/** Status with which the account refuses everything. */
let status: 401 | 403 | 500 = 403;
const locks = (): string => join(checkout.root, "state/.pulumi/locks/organization/steward/dev");

beforeAll(async () => {
  checkout = await copyCheckout();
  const refusing = new Hono().all("*", (context) =>
    context.json(
      {
        success: false,
        errors: [{ code: 10000, message: "Authentication error" }],
        messages: [],
        result: null,
      },
      status,
    ),
  );
  account = await listen(refusing, { hostname: "127.0.0.1", port: 0 });
  const secrets = await vaultSecrets();
  shell = await openShell(checkout.root, "bad-input", {
    environment: {
      ...secrets.variables,
      CLOUDFLARE_API_TOKEN: "test-token_0123456789abcdefghijklmnopqrstuv",
      CLOUDFLARE_BASE_URL: account.url,
    },
  });
  await rm(join(checkout.root, "stacks/Pulumi.dev.yaml"), { force: true });
  await type(shell, `pulumi stack init dev --secrets-provider ${secrets.url}`);
  await type(shell, "pulumi config set -s dev --secret steward:anthropicApiKey sk-test");
  const plain = [
    "steward:target=serverless",
    "steward:accountId=00112233445566778899aabbccddeeff",
    "steward:subdomain=acme",
  ];
  await type(shell, `pulumi config set-all -s dev ${plain.map((pair) => `--plaintext ${pair}`).join(" ")}`);
}, ENGINE_MS);

afterAll(async () => {
  await account?.close();
  await checkout?.close();
});

/** Types a line. It must fail with one error that has this code, on standard output as one object, and change nothing. */
async function fails(line: string, code: string, environment: Record<string, string> = {}): Promise<string> {
  const state = await readFile(stateFile(), "utf8");
  const out = join(checkout.root, "out.json");
  const ended = await type(
    { ...shell, environment: { ...shell.environment, ...environment } },
    `${line} > '${out}'`,
  );
  expect(ended.code, ended.said).toBe(1);
  const report = (await readFile(out, "utf8")).trimEnd();
  expect(report.split("\n"), report).toHaveLength(1);
  expect(JSON.parse(report)).toMatchObject({ ok: false, code });
  expect(ended.said.match(/^ *fix: /gm), ended.said).toHaveLength(1);
  expect(ended.said).not.toMatch(/^\s+at \S/m);
  expect(ended.said).not.toContain('"success"');
  expect(await readFile(stateFile(), "utf8")).toBe(state);
  return ended.said;
}

const stateFile = (): string => join(checkout.root, "state/.pulumi/stacks/steward/dev.json");

describe.each(COMMANDS)("%s", (line, refusal) => {
  test(
    `says that the account refuses the token with ${refusal}`,
    async () => {
      status = refusal;
      const said = await fails(line, "token_permission_missing");
      expect(said).toContain(`${refusal}`);
      expect(said).toContain("pulumi config set -s dev --secret cloudflare:apiToken <token>");
    },
    UPDATE_MS,
  );

  test(
    "says that Cloudflare is out of order",
    async () => {
      status = 500;
      expect(await fails(line, "cloudflare_unavailable")).toContain("500");
    },
    UPDATE_MS,
  );

  test(
    "names the host that does not answer",
    async () => {
      const CLOUDFLARE_BASE_URL = "http://cloudflare.invalid";
      const said = await fails(line, "cloudflare_unreachable", { CLOUDFLARE_BASE_URL });
      expect(said).toMatch(/http:\/\/cloudflare\.invalid does not answer: E\w+/);
    },
    UPDATE_MS,
  );

  test(
    "says that the rehearsal has ended, and how to start it",
    async () => {
      const said = await fails(line, "rehearsal_ended", {
        CLOUDFLARE_BASE_URL: `http://127.0.0.1:${await freePort()}`,
        STEWARD_REHEARSED_BY: "npm start -- --dir /tmp/x",
      });
      expect(said).toContain("fix: Start it in another terminal: `npm start -- --dir /tmp/x`.");
    },
    UPDATE_MS,
  );
});

test.each(["--json", "--create --json", "--verify --json"])(
  "a backup with %s asks for what is deployed, before it asks anybody",
  async (words) => {
    const said = await fails(`npm run --silent backup -- dev ${words}`, "stack_not_deployed", {
      CLOUDFLARE_BASE_URL: "http://cloudflare.invalid",
    });
    expect(said).not.toContain("cloudflare.invalid");
  },
  UPDATE_MS,
);

describe("policies, which print no object,", () => {
  /** Types the line. It must fail with one error that has this code, and change nothing. */
  async function failing(code: string, environment: Record<string, string> = {}): Promise<string> {
    const state = await readFile(stateFile(), "utf8");
    const typed = await type(
      { ...shell, environment: { ...shell.environment, ...environment } },
      "npm run --silent policies -- dev",
    );
    expect(typed.code, typed.said).toBe(1);
    expect(typed.said.split(`(${code})`), typed.said).toHaveLength(2);
    expect(typed.said.match(/^ *fix: /gm), typed.said).toHaveLength(1);
    expect(typed.said).not.toMatch(/^\s+at \S/m);
    expect(typed.said).not.toContain('"success"');
    expect(typed.said).not.toContain("No mandatory rule is broken.");
    expect(await readFile(stateFile(), "utf8")).toBe(state);
    return typed.said;
  }

  test.each([401, 403] as const)(
    "say that the account refuses the token with %i",
    async (answer) => {
      status = answer;
      expect(await failing("token_refused")).toContain(`${answer}`);
    },
    UPDATE_MS,
  );

  test(
    "say that Cloudflare is out of order",
    async () => {
      status = 500;
      expect(await failing("cloudflare_unavailable")).toContain("500");
    },
    UPDATE_MS,
  );

  test(
    "name the host that does not answer",
    async () => {
      const CLOUDFLARE_BASE_URL = "http://cloudflare.invalid";
      const said = await failing("cloudflare_unreachable", { CLOUDFLARE_BASE_URL });
      expect(said).toMatch(/http:\/\/cloudflare\.invalid does not answer: E\w+ \(cloudflare_unreachable\)/);
      expect(said).toContain("fix: Check this machine's network, DNS and proxy");
    },
    UPDATE_MS,
  );
});

test(
  "a preview typed by hand names the host that does not answer, once",
  async () => {
    const environment = { ...shell.environment, CLOUDFLARE_BASE_URL: "http://cloudflare.invalid" };
    const { code, said } = await type({ ...shell, environment }, "pulumi preview -s dev");
    expect(code, said).not.toBe(0);
    expect(said.match(/^ *fix: /gm), said).toHaveLength(1);
  },
  UPDATE_MS,
);

describe("of a stack that is deployed, and whose service does not answer,", () => {
  const html = (status: number): Response => new Response("<html>No.</html>", { status });
  const LINES: [line: string, foreign: Response][] = [
    ["npm run --silent backup -- dev --json", html(401)],
    ["npm run --silent backup -- dev --create --json", Response.json({ success: true })],
    ["npm run --silent backup -- dev --verify --json", html(500)],
  ];
  let service: Listening;
  /** What the service answers everything with. */
  let answer: Response;
  let former: string;

  /** Writes a state by hand: what a deployment would have left there of its address and key. */
  async function deployedAt(url: string): Promise<void> {
    const handlerOf = (name: string) =>
      `exports.handler = () => require("./infra/dynamic/providers.ts").providers["${name}"];`;
    const key = { __provider: handlerOf("secrets:AttestationKey") };
    const bucket = {
      accountId: "00112233445566778899aabbccddeeff",
      name: "dev-steward",
      owner: "steward/dev",
      ownerId: "an-id",
      onDestroy: "keep",
      __provider: handlerOf("serverless:StateBucket"),
    };
    const stack = "urn:pulumi:dev::steward::pulumi:pulumi:Stack::steward-dev";
    const type = "pulumi-nodejs:dynamic/secrets:AttestationKey";
    const resources = [
      { urn: stack, type: "pulumi:pulumi:Stack", custom: false, outputs: { url } },
      {
        urn: `urn:pulumi:dev::steward::${type}::attestation-key`,
        type,
        custom: true,
        id: "key",
        parent: stack,
        inputs: key,
        outputs: { key: "0123456789abcdef0123456789abcdef0123456789a", ...key },
      },
      {
        urn: `${stack.replace(/pulumi:pulumi:.*/, "")}pulumi-nodejs:dynamic/serverless:StateBucket::state`,
        type: "pulumi-nodejs:dynamic/serverless:StateBucket",
        custom: true,
        id: "dev-steward",
        parent: stack,
        inputs: bucket,
        outputs: bucket,
      },
    ];
    const file = join(checkout.root, "deployed.json");
    const manifest = { time: "2026-01-31T09:30:00Z", magic: "", version: "" };
    await writeFile(file, JSON.stringify({ version: 3, deployment: { manifest, resources } }));
    await succeed(shell, `pulumi stack import -s dev --force --file ${file}`);
  }

  beforeAll(async () => {
    former = await readFile(stateFile(), "utf8");
    service = await listen(
      new Hono().all("*", () => answer.clone() as Response),
      {
        hostname: "127.0.0.1",
        port: 0,
      },
    );
  });

  afterAll(async () => {
    await service?.close();
    await writeFile(stateFile(), former);
  });

  test(
    "drift says why the account could not be asked, and `pulumi refresh` the same without a stack trace",
    async () => {
      await deployedAt("http://service.invalid");
      const line = "npm run --silent drift -- dev --json";
      status = 403;
      expect(await fails(line, "token_permission_missing")).toContain("config set -s dev --secret");
      status = 500;
      await fails(line, "cloudflare_unavailable");
      await fails(line, "cloudflare_unreachable", { CLOUDFLARE_BASE_URL: "http://cloudflare.invalid" });

      status = 403;
      const { code, said } = await type(shell, "pulumi refresh -s dev");
      expect(code, said).not.toBe(0);
      expect(said.match(/^ *fix: /gm), said).toHaveLength(1);
      expect(said).not.toMatch(/^.*\s+at \S+ \(/m);
    },
    UPDATE_MS,
  );

  describe.each(LINES)("%s", (line, foreign) => {
    test(
      "names the address that refuses the connection, and the one that is not known",
      async () => {
        const url = `http://127.0.0.1:${await freePort()}`;
        await deployedAt(url);
        expect(await fails(line, "service_unreachable")).toContain(`${url} does not answer: ECONNREFUSED`);
        await deployedAt("http://service.invalid");
        expect(await fails(line, "service_unreachable")).toMatch(
          /http:\/\/service\.invalid does not answer: E\w+ \(service_unreachable\)/,
        );
      },
      UPDATE_MS,
    );

    test(
      "says what an answer is that is none of steward's",
      async () => {
        await deployedAt(service.url);
        answer = foreign;
        expect(await fails(line, "service_unreachable")).toMatch(
          new RegExp(
            `/stack/backups\\S* answered with ${foreign.status}, which is not a response from steward`,
          ),
        );
      },
      UPDATE_MS,
    );

    test(
      "tells steward's own refusal with its fix",
      async () => {
        await deployedAt(service.url);
        answer = problemResponse(problem("stack_signature_invalid"));
        expect(await fails(line, "stack_signature_invalid")).toContain("(stack_signature_invalid)");
      },
      UPDATE_MS,
    );
  });
});

describe("while the stack is locked, a rollout", () => {
  const ROLLOUT = "npm run --silent rollout -- dev --yes --json";

  async function lock(pid: number, machine: string): Promise<void> {
    await mkdir(locks(), { recursive: true });
    const held = { pid, username: "me", hostname: machine, timestamp: "2026-01-31T09:30:00Z" };
    await writeFile(join(locks(), "0b0f2a1e-5c3e-4f7e-9a57-2f1a4f4f7c11.json"), JSON.stringify(held));
  }

  afterEach(() => rm(locks(), { recursive: true, force: true }));

  test(
    "names the machine and process that hold it, before it asks anybody",
    async () => {
      await lock(4711, "another-machine");
      const said = await fails(ROLLOUT, "rollout_under_way", {
        CLOUDFLARE_BASE_URL: "http://cloudflare.invalid",
      });
      expect(said).toContain("locked since 2026-01-31T09:30:00Z by process 4711 of me on another-machine");
      expect(said).toContain("If it was killed, release its lock: `pulumi cancel -s dev`.");
    },
    UPDATE_MS,
  );

  test(
    "says that a process of this machine was killed, and what is printed releases the lock",
    async () => {
      await lock(2 ** 22 + 1, hostname());
      const said = await fails(ROLLOUT, "rollout_under_way");
      expect(said).toContain("on this machine, which has ended without releasing it");
      const [, fix = ""] = /fix: Release its lock: `([^`]+)`/.exec(said) ?? [];
      expect((await type(shell, fix)).code).toBe(0);
      status = 403;
      await fails(ROLLOUT, "token_permission_missing");
    },
    UPDATE_MS,
  );
});
