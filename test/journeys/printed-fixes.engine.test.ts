import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { commandsFor } from "../../infra/shell/package.ts";
import { ERRORS, fixOf, type ErrorCode } from "../../runtime/contract/errors.ts";
import { findConfigProblems } from "../../stacks/config/find.ts";
import type { StackConfigSource } from "../../stacks/config/source.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { edgeFixture } from "../support/edge.ts";
import { PUBLIC_KEY, REFUSED } from "../support/refused-config.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { HOST, SECRETS, SERVERLESS } from "../support/stack-config.ts";
import { openShell, succeed, typeFix, type Shell, waysOf } from "./typed.ts";

/** What a person puts in place of a placeholder, by the key that is set. */
const OWN: Readonly<Record<string, string>> = {
  "cloudflare:apiToken": SERVERLESS["cloudflare:apiToken"],
  "steward:accountId": "00112233445566778899aabbccddeeff",
  "steward:adminToken": "0123456789abcdef0123456789abcdef",
  "steward:alerts": `'{"slack":"https://hooks.slack.com/services/T/B/x"}'`,
  "steward:anthropicApiKey": "sk-test",
  "steward:canaryTenants": `'["slack-C0123456789"]'`,
  "steward:configRecovery": "auto",
  "steward:discordBotToken": "token",
  "steward:discordPublicKey": "0".repeat(64),
  "steward:expectedAwakeHours": "3",
  "steward:hostname": "steward.acme.dev",
  "steward:image": "registry.acme.dev/steward:1",
  "steward:maxSandboxes": "20",
  "steward:monthlyBudget": "50",
  "steward:monthlyChatBudget": "2",
  "steward:operators": `'["op@acme.dev"]'`,
  "steward:origin": "http://127.0.0.1:8787",
  "steward:publicWebhooks": "true",
  "steward:registry": "registry.cloudflare.com",
  "steward:replayEvents": "200",
  "steward:secrets": `'{"MISTRAL_API_KEY":"key-0123456789"}'`,
  "steward:slackBotToken": "xoxb-1",
  "steward:slackSigningSecret": "0123456789abcdef",
  "steward:sleepAfter": "1h",
  "steward:subdomain": "acme",
  "steward:teamDomain": "acme.cloudflareaccess.com",
  "steward:telegramBotToken": "1:a",
  "steward:telegramWebhookSecret": "my-own",
  "steward:tenancy": "shared",
  "steward:variables": `'{"REGION":"eu"}'`,
};
/** Cases of a host stack and of the examples, beside those of a serverless one. */
const MORE: readonly (readonly [what: string, values: Record<string, string | undefined>])[] = [
  ["a host with a key of the other target", { ...HOST, "steward:sleepAfter": "1h" }],
  [
    "a host whose update begins with some chats",
    { ...HOST, "steward:tenancy": "chat", "steward:canaryTenants": '["slack-C0123456789"]' },
  ],
  ["no target", { ...SERVERLESS, "steward:target": undefined }],
  ["a target that is none", { ...HOST, "steward:target": "hosts" }],
  [
    "two ways to sign in",
    {
      ...HOST,
      "steward:adminToken": "0123456789abcdef0123456789abcdef",
      "steward:teamDomain": "acme.cloudflareaccess.com",
      "steward:audience": "0".repeat(64),
    },
  ],
  ["e-mail from a host", { ...HOST, "steward:alerts": '{"email":{"from":"a@acme.dev","to":"b@acme.dev"}}' }],
  [
    "the examples' values",
    {
      ...SERVERLESS,
      "steward:accountId": "0123456789abcdef0123456789abcdef",
      "steward:subdomain": "example",
      "steward:teamDomain": "example.cloudflareaccess.com",
      "steward:operators": '["you@example.com"]',
    },
  ],
  [
    "this machine's own identity gateway",
    { ...SERVERLESS, "steward:teamDomain": "http://127.0.0.1:9000", "steward:operators": '["op@acme.dev"]' },
  ],
];

const CASES = [...REFUSED.map(([what, change]) => [what, { ...SERVERLESS, ...change }] as const), ...MORE];

/** Codes whose printed command another test takes from the error and types, and the one that is never printed. */
const ELSEWHERE: Readonly<Partial<Record<ErrorCode, string>>> = {
  application_gone: "test/stacks/false-green.engine.test.ts",
  application_in_use: "test/stacks/commands/migrate.engine.test.ts",
  application_orphaned: "test/stacks/serverless.engine.test.ts",
  bucket_gone: "test/stacks/false-green.engine.test.ts",
  cloudflare_refused: "test/stacks/false-green.engine.test.ts",
  container_gone: "test/stacks/false-green-host.system.test.ts",
  deployment_stale: "test/stacks/commands/rollout.engine.test.ts",
  image_too_large: "test/stacks/image-push.system.test.ts",
  migration_tag_missing: "test/stacks/commands/migrate.engine.test.ts",
  promotion_unproven: "test/stacks/commands/promotion.engine.test.ts",
  replay_not_allowed: "test/stacks/commands/rollout-replay.engine.test.ts",
  rollout_under_way: "test/journeys/bad-input.engine.test.ts",
  secret_refused: "test/stacks/secrets.engine.test.ts",
  service_unreachable: "test/stacks/commands/rollout.engine.test.ts",
  sign_in_limited: "test/journeys/printed-fixes.engine.test.ts",
  slack_config_token_invalid: "test/infra/channels/registrations.engine.test.ts",
  stack_config_invalid: "each problem has a fix of its own, below; this one is not printed beside them",
  stack_not_deployed: "test/stacks/commands/migrate.engine.test.ts",
  stack_signature_invalid: "test/stacks/commands/rollout.engine.test.ts",
  stack_signature_used: "test/stacks/commands/rollout.engine.test.ts",
  token_refused: "test/stacks/lifecycle.engine.test.ts",
  volume_gone: "test/stacks/false-green-host.system.test.ts",
  worker_gone: "test/stacks/migrations.engine.test.ts",
};

let checkout: Checkout;
let shell: Shell;
let complete: Record<string, unknown>;
const settings = (stack: string): string => join(checkout.root, "stacks", `Pulumi.${stack}.yaml`);

beforeAll(async () => {
  checkout = await copyCheckout();
  shell = await openShell(checkout.root, "printed-fixes");
  await rm(settings("dev"), { force: true });
  await writeFile(join(checkout.root, "cosign.pub"), PUBLIC_KEY);
  await works("pulumi stack init dev");
  for (const key of SECRETS) await works(`pulumi config set -s dev --secret ${key} ${OWN[key] ?? "secret"}`);
  complete = parse(await readFile(settings("dev"), "utf8")) as Record<string, unknown>;
  // The one that is selected: a fix without -s would change it.
  await works("pulumi stack init other");
}, ENGINE_MS);

afterAll(() => checkout?.close());

/** Types a line that has to succeed. Returns what it printed. */
const works = async (line: string): Promise<string> => (await succeed(shell, line)).said;

/** Writes the settings of `dev`. Secrets are those that were encrypted before, and the rest is plain. */
async function write(values: Readonly<Record<string, string | undefined>>): Promise<void> {
  const secrets = complete["config"] as Record<string, object>;
  const config = Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const encrypted = SERVERLESS[key as keyof typeof SERVERLESS] === value ? secrets[key] : undefined;
    // As `pulumi config set --path` stores a map.
    const isMap = key === "steward:variables" && value.startsWith("{");
    return [[key, encrypted ?? (isMap ? (JSON.parse(value) as object) : value)]];
  });
  await writeFile(settings("dev"), stringify({ ...complete, config: Object.fromEntries(config) }));
}

/** The configuration of `dev` as a program gets it: a secret in the file is the one that was typed. */
async function read(): Promise<StackConfigSource> {
  const { config } = parse(await readFile(settings("dev"), "utf8")) as { config: Record<string, unknown> };
  const secrets = new Set(
    Object.keys(config).filter((key) => JSON.stringify(config[key]).includes('"secure"')),
  );
  const values = Object.entries(config).map(([key, value]) => {
    if (secrets.has(key)) return [key, (OWN[key] ?? "secret").replaceAll("'", "")];
    return [key, typeof value === "string" ? value : JSON.stringify(value)];
  });
  return {
    values: Object.fromEntries(values),
    isSecret: (key) => secrets.has(key),
    environment: {},
    commands: commandsFor("dev"),
  };
}

/** The line with a person's own value in place of its placeholder. */
function own(line: string): string {
  const [, key = ""] = / (?:--secret )?(\S+:\S+) '?[^']*<[^>]+>[^']*'?$/.exec(line) ?? [];
  const filled = line.replace(/ '?[^ ']*<[^>]+>[^']*'?$/, ` ${OWN[key] ?? ""}`);
  expect(filled, `no value for ${key} in: ${line}`).not.toMatch(/<[^ ]|\s$/);
  return filled;
}

describe("a wrong configuration", () => {
  let other: string;

  beforeEach(async () => {
    other = await readFile(settings("other"), "utf8").catch(() => "");
  });

  test.each(CASES)(
    "%s is corrected by what is printed, in this stack alone",
    async (_what, values) => {
      await write(values);
      const problems = findConfigProblems(await read());
      expect(problems.length).toBeGreaterThan(0);
      for (const { key, problem, fix } of problems) {
        const ways = waysOf(fix);
        expect(ways, `${key}: ${fix}`).not.toEqual([]);
        for (const lines of ways) {
          await write(values);
          for (const line of lines) await works(own(line));
          const left = findConfigProblems(await read()).filter(
            (one) => one.key === key && one.problem === problem,
          );
          expect(left, lines.join("\n")).toEqual([]);
        }
      }
      expect(await readFile(settings("other"), "utf8").catch(() => "")).toBe(other);
    },
    UPDATE_MS,
  );
});

test(
  "whoever has tried too many wrong tokens signs in with the one that the printed command gives",
  async () => {
    const adminToken = "an-admin-token-of-a-host-0123456789";
    await write(HOST);
    await works(`pulumi config set -s dev --secret steward:adminToken ${adminToken}`);
    const { app } = edgeFixture({ adminToken });
    const signIn = (token: string) =>
      app.request("https://steward.acme.dev/_admin/sign-in", {
        method: "POST",
        body: new URLSearchParams({ token }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    let refused = { code: "", fix: "" };
    for (let tries = 0; refused.code !== "sign_in_limited" && tries < 100; tries += 1)
      refused = (await (await signIn("a-wrong-token")).json()) as typeof refused;
    expect(refused.code).toBe("sign_in_limited");

    const { said } = await typeFix(shell, refused.fix, (line) => line.replace("<stack>", "dev"));
    expect((await signIn(said.trim())).status).toBe(303);
  },
  UPDATE_MS,
);

test("what Slack's app is to be is written by the command that stands for its token", async () => {
  await write(SERVERLESS);
  const [, line = ""] = waysOf(fixOf("slack_config_token_invalid", commandsFor("dev"))).flat();
  expect(JSON.parse(await works(line.replace("npm run", "npm run --silent")))).toHaveProperty("oauth_config");
});

test("every error whose fix names a command has a test that types it", () => {
  const commands = commandsFor("dev");
  const named = (Object.keys(ERRORS) as ErrorCode[]).filter((code) =>
    /`(?:pulumi|npm|npx) /.test(fixOf(code, commands)),
  );
  expect(named.sort()).toEqual(Object.keys(ELSEWHERE).sort());
  // The test is there, and is about this code.
  for (const [code, where] of Object.entries(ELSEWHERE).filter(([, text]) => text.startsWith("test/")))
    expect([where, readFileSync(where, "utf8").includes(code)]).toEqual([where, true]);
});

test(
  "every command in the table of errors exists, with its options",
  async () => {
    const commands = commandsFor("dev");
    const lines = (Object.keys(ERRORS) as ErrorCode[]).flatMap((code) =>
      waysOf(fixOf(code, commands)).flat(),
    );
    const { scripts } = JSON.parse(await readFile(resolve("package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const line of new Set(lines)) {
      const [program = "", ...words] = line.replaceAll(/<[^>]+>/g, "x").split(" ");
      const options = words.filter((word) => /^--?\w/.test(word));
      const script = program === "npm" ? scripts[words[1] ?? ""] : undefined;
      expect(program === "npm" && script === undefined, line).toBe(false);
      const subcommand = words.slice(
        0,
        words.findIndex((word) => word.startsWith("-")),
      );
      const help =
        script === undefined
          ? await works(`pulumi ${subcommand.join(" ")} --help`)
          : execFileSync("sh", ["-c", `${script} --help`], { encoding: "utf8" });
      for (const option of options) expect(help, line).toContain(option);
    }
  },
  UPDATE_MS,
);
