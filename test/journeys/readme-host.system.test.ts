import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { mention, startSlack, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import type { Listening } from "../../rehearsal/standins/serve.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { HOST_NAMES } from "../../runtime/contract/names.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { freePort } from "../support/ports.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { filled, linesOf, openShell, succeed, type, typeAndKill, type Shell, type Typed } from "./typed.ts";

const VALUES = {
  "steward:anthropicApiKey": "sk-test-the-model-key-0123456789",
  "steward:adminToken": "the-admin-token-that-nobody-may-read",
};
const SLACK = {
  "steward:slackBotToken": "xoxb-test-0123456789",
  "steward:slackSigningSecret": "the-signing-secret-of-slack-0123",
};
const { container, volume } = HOST_NAMES;

const release = await holdHostNames();
let checkout: Checkout;
let shell: Shell;
let model: Listening;
let slack: SlackStandIn;
let port: number;

beforeAll(async () => {
  if (!engine.ok) return;
  // The chapter's own names: beside somebody's real stack this test has no business.
  const found = await runProcess("docker", [
    "ps",
    "--all",
    "--format",
    "{{.Names}}",
    "--filter",
    `name=^/${container}$`,
  ]);
  if (found.stdout.trim() !== "") throw new Error(`Docker has a container ${container} already`);
  model = await startModel({
    hostname: await bridgeAddress(),
    port: 0,
    apiKey: VALUES["steward:anthropicApiKey"],
  });
  slack = await startSlack({
    hostname: await bridgeAddress(),
    port: 0,
    botToken: SLACK["steward:slackBotToken"],
    signingSecret: SLACK["steward:slackSigningSecret"],
  });
  port = await freePort();
  checkout = await copyCheckout();
  shell = await openShell(checkout.root, "real-host", { docker: true });
}, ENGINE_MS);

afterAll(async () => {
  if (!engine.ok) return;
  await docker(["rm", "--force", container, `${container}-former`]);
  await docker(["volume", "rm", "--force", volume]);
  await Promise.all([model?.close(), slack?.close()]);
  await checkout?.close();
}, UPDATE_MS);
afterAll(release);

/** A free port, and the platforms that are on this machine. */
async function editSettings(): Promise<void> {
  const file = join(checkout.root, "stacks/Pulumi.host.yaml");
  const text = await readFile(file, "utf8");
  const rehearsed = `  steward:endpoints: '${JSON.stringify({ anthropic: model.url, slack: slack.apiUrl })}'`;
  await writeFile(
    file,
    text
      .replace(/^ {2}steward:hostPort: .*$/m, `  steward:hostPort: ${port}`)
      .replace(/^config:$/m, `config:\n${rehearsed}`),
  );
}

/** Types a line that has to succeed. Returns what it printed. */
const works = async (line: string): Promise<string> => (await succeed(shell, line)).said;

/** Somebody writes to the bot, and is answered. */
async function talk(text: string): Promise<void> {
  const init = { method: "POST", ...slack.sign(mention(text)) };
  expect((await fetch(`http://127.0.0.1:${port}/slack/events`, init)).status).toBe(200);
  await slack.waitFor((message) => message.text.includes(text), 60_000);
}

/** What happens to a bot that people use: messages, a backup, a hand at the engine, an update that is cut off. */
async function daysOfUse(): Promise<void> {
  await talk("the first message");
  await works(`docker exec ${container} steward backup create`);

  await works(`docker stop ${container}`);
  const drift = await type(shell, "npm run --silent drift -- host");
  expect(drift.code, drift.said).toBe(2);
  // What changed and what to type: none of the Docker provider's own log.
  expect(drift.said.trimEnd().split("\n")).toHaveLength(2);
  const [remedy = ""] = /pulumi up -s host --refresh/.exec(drift.said) ?? [];
  await works(remedy);
  expect(await works("npm run --silent drift -- host")).toContain("No drift.");
  await talk("after a stop by hand");

  await works("pulumi config set -s host steward:logLevel warning");
  await typeAndKill(shell, "pulumi up -s host", "service creating");
  const locked = await type(shell, "pulumi up -s host");
  expect(locked.code, locked.said).not.toBe(0);
  await works("pulumi cancel -s host");
  await works("pulumi up -s host");
  await talk("after an update that was killed");
}

test.skipIf(!engine.ok)(
  'the chapter "To a real host" of the README works as it is typed',
  async () => {
    const ended: Typed[] = [];
    for (const line of linesOf("To a real host")) {
      if (line === "npm ci") continue; // the packages are linked
      const typed = await type(shell, filled(line, VALUES));
      const isFirst = ended.every((before) => before.line !== typed.line);
      ended.push(typed);
      expect(typed.code, typed.said).toBe(0);
      if (line === "pulumi stack init host") {
        await editSettings();
        for (const [key, value] of Object.entries(SLACK))
          await works(`pulumi config set -s host --secret ${key} ${value}`);
      }
      if (line === "pulumi up -s host" && isFirst) await daysOfUse();
    }
    const said = (line: string) => ended.filter((typed) => typed.line === line).map((typed) => typed.said);

    expect(said("pulumi up -s host")[0]).toMatch(/readiness +: "/);
    expect(said("docker exec steward steward status")[0]).toContain("ready");
    // The data outlives the stack.
    const { stdout } = await docker(["volume", "ls", "--quiet", "--filter", `name=^${volume}$`]);
    expect(stdout.trim()).toBe(volume);
    const transcript = await readFile(shell.transcript, "utf8");
    const printed = transcript
      .split("\n")
      .filter((line) => !line.startsWith("$ "))
      .join("\n");
    for (const secret of Object.values({ ...VALUES, ...SLACK })) expect(printed).not.toContain(secret);
  },
  UPDATE_MS * 6,
);
