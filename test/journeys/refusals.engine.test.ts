import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { openShell, type, type Shell } from "./typed.ts";

/** Every command on a deployed stack, as it is typed. */
const COMMANDS = [
  "npm run --silent preview -- dev",
  "npm run --silent rollout -- dev",
  "npm run --silent rollout -- prod --promote-from dev",
  "npm run --silent drift -- dev",
  "npm run --silent policies -- dev",
  "npm run --silent backup -- dev",
  "npm run --silent migrate -- dev --worker-name another",
  "npm run --silent orphans -- dev",
];
/** These run the stack's program, and need its plugins. */
const WITH_PROGRAM = COMMANDS.filter((line) => /preview|rollout -- dev|drift|policies|migrate/.test(line));

let checkout: Checkout;
let home: string;
let shell: Shell;

beforeAll(async () => {
  checkout = await copyCheckout();
  home = await mkdtemp(join(tmpdir(), "steward-home-"));
  shell = await openShell(checkout.root, "refusals");
}, ENGINE_MS);

afterAll(async () => {
  await checkout?.close();
  if (home !== undefined) await rm(home, { recursive: true, force: true });
});

/** Types a line with other variables. It must fail, and compile, build or record nothing. */
async function refused(line: string, environment: Record<string, string> = {}): Promise<string> {
  const { code, said } = await type(
    { ...shell, environment: { ...shell.environment, ...environment } },
    line,
  );
  expect(code, `${line}\n${said}`).not.toBe(0);
  expect(await readdir(checkout.root)).not.toContain("dist");
  return said;
}

describe.each(COMMANDS)("%s says at once what is missing, and how to get it:", (line) => {
  test("the CLI", async () => {
    const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
    expect(await refused(line, { PATH })).toMatch(
      /^there is no `pulumi` on PATH \(pulumi_missing\)\n {2}fix: Install the Pulumi CLI \(https:/m,
    );
  });

  test("a login", async () => {
    const said = await refused(line, { PULUMI_BACKEND_URL: "", PULUMI_HOME: home, PULUMI_ACCESS_TOKEN: "" });
    expect(said).toMatch(/\(pulumi_not_logged_in\)\n {2}fix: Run `pulumi login`/m);
  });
});

describe("with another stack alone", () => {
  beforeAll(() => type(shell, "pulumi stack init other"));
  afterAll(() => type(shell, "pulumi stack rm other --yes"));

  test.each(COMMANDS)("%s names the stacks that there are", async (line) => {
    expect(await refused(line)).toContain(
      "there is no stack dev; existing stacks: other (stack_unknown)\n" +
        "  fix: Use an existing stack, or create it with `pulumi stack init dev`.\n",
    );
  });
});

describe("with the stack dev as it is shipped", () => {
  beforeAll(() => type(shell, "pulumi stack init dev"));

  test.each(WITH_PROGRAM)("%s names a plugin that the CLI cannot install", async (line) => {
    const said = await refused(line, { PULUMI_HOME: home });
    expect(said).toMatch(
      /\(pulumi_plugin_missing\)\n {2}fix: Run `pulumi plugin install resource cloudflare 6\.\d+\.\d+`/m,
    );
  });

  test("without a network the first download that fails ends it: the CLI would try five times", async () => {
    const asked = new Set<string>();
    const server = createServer().on("connect", ({ url = "" }, socket) => {
      // A second attempt gets no answer, so a command that waited for it would not end.
      if (!asked.has(url)) socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      asked.add(url);
    });
    server.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const said = await refused("npm run --silent drift -- dev", {
      PULUMI_HOME: home,
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "",
      HTTPS_PROXY: proxy,
      HTTP_PROXY: proxy,
    });
    expect(asked).toContain("get.pulumi.com:443");
    expect(said).toContain("Installing the Pulumi plugin cloudflare ");
    expect(said).toMatch(
      /not installed: Error downloading plugin: .*: Forbidden \(pulumi_plugin_missing\)\n {2}fix: Run `pulumi plugin install /,
    );
    expect(said).not.toMatch(/will retry/i);
  });

  test("a command says that the passphrase is missing", async () => {
    await type(shell, "pulumi config set -s dev --secret steward:anthropicApiKey sk-test");
    const said = await refused("npm run --silent drift -- dev", { PULUMI_CONFIG_PASSPHRASE: "" });
    expect(said).toMatch(/\(stack_locked\)\n {2}fix: Set PULUMI_CONFIG_PASSPHRASE or /m);
  });

  test(
    "`pulumi preview` refuses every value of the example that is nobody's, with what else is missing, at once",
    async () => {
      await type(shell, "pulumi config rm -s dev steward:anthropicApiKey");
      const { code, said } = await type(shell, "pulumi preview -s dev");
      expect(code).not.toBe(0);
      for (const key of ["accountId", "operators", "subdomain", "teamDomain"]) {
        expect(said).toContain(`steward:${key}: still has the example's value`);
      }
      expect(said).toContain("cloudflare:apiToken: missing");
      expect(said).toContain("steward:anthropicApiKey: missing");
      expect(said).not.toContain("at file:");
    },
    UPDATE_MS,
  );

  test(
    "`pulumi preview` by an older Node says which one is needed, and `npm run pulumi` brings it",
    async () => {
      const environment = { ...shell.environment, ...olderNode() };
      const old = await type({ ...shell, environment }, "pulumi preview -s dev");
      expect(old.code).not.toBe(0);
      expect(old.said).toMatch(
        /steward needs Node 24 or newer, and the `node` that Pulumi found on PATH is v\d+/,
      );
      expect(old.said).toContain("fix: type `npm run pulumi --` in place of `pulumi`");
      expect(old.said).not.toContain("ERR_UNKNOWN_FILE_EXTENSION");

      const locked = await type({ ...shell, environment }, "npm run --silent pulumi -- preview -s dev");
      expect(locked.said).toContain("stack_config_invalid");
    },
    UPDATE_MS,
  );
});

/** An older Node first on PATH: this machine's own, or if it is new this one under another version's name. */
function olderNode(): Record<string, string> {
  const folder = "/usr/bin";
  const version = execFileSync(join(folder, "node"), ["--version"], { encoding: "utf8" });
  const path = { PATH: `${folder}:${shell.environment["PATH"]}` };
  if (Number.parseInt(version.slice(1), 10) < 24) return path;
  const pretend = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  return { ...path, NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(pretend)}"` };
}
