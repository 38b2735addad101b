import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { run } from "../../infra/shell/process.ts";
import { fileBackend } from "../../rehearsal/engine/index.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import type { Listening } from "../../rehearsal/standins/serve.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { HOST_NAMES } from "../../runtime/contract/names.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { freePort } from "../support/ports.ts";
import { byHand, ENGINE_MS, PASSPHRASE, testEngine, UPDATE_MS } from "../support/stack.ts";
import { filled, linesOf, type, type Shell, type Typed } from "./typed.ts";

const VALUES = {
  "steward:anthropicApiKey": "sk-test-the-model-key-0123456789",
  "steward:adminToken": "the-admin-token-that-nobody-may-read",
};
const { container, volume } = HOST_NAMES;

const release = await holdHostNames();
let checkout: Checkout;
let shell: Shell;
let model: Listening;

beforeAll(async () => {
  if (!engine.ok) return;
  // The chapter's own names: beside somebody's real stack this test has no business.
  const found = await run("docker", [
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
  checkout = await copyCheckout();
  await mkdir(join(checkout.root, "state"));
  shell = {
    folder: checkout.root,
    environment: {
      ...(await byHand(await testEngine({ docker: true }))),
      PULUMI_BACKEND_URL: fileBackend(join(checkout.root, "state")),
      PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    },
    transcript: resolve(".steward/artefacts/transcripts/real-host.txt"),
  };
  await rm(shell.transcript, { force: true });
}, ENGINE_MS);

afterAll(async () => {
  if (!engine.ok) return;
  await docker(["rm", "--force", container, `${container}-former`]);
  await docker(["volume", "rm", "--force", volume]);
  await model?.close();
  await checkout?.close();
}, UPDATE_MS);
afterAll(release);

/** A free port, and the model that is on this machine. */
async function editSettings(): Promise<void> {
  const file = join(checkout.root, "stacks/Pulumi.host.yaml");
  const text = await readFile(file, "utf8");
  const rehearsed = `  steward:endpoints: '${JSON.stringify({ anthropic: model.url })}'`;
  await writeFile(
    file,
    text
      .replace(/^ {2}steward:hostPort: .*$/m, `  steward:hostPort: ${await freePort()}`)
      .replace(/^config:$/m, `config:\n${rehearsed}`),
  );
}

test.skipIf(!engine.ok)(
  'the chapter "To a real host" of the README works as it is typed',
  async () => {
    const ended: Typed[] = [];
    for (const line of linesOf("To a real host")) {
      if (line === "npm ci") continue; // the packages are linked
      const typed = await type(shell, filled(line, VALUES));
      ended.push(typed);
      expect(typed.code, typed.said).toBe(0);
      if (line === "pulumi stack init host") await editSettings();
    }
    const said = (line: string) => ended.filter((typed) => typed.line === line).map((typed) => typed.said);

    expect(said("pulumi up -s host")[0]).toMatch(/readiness +: "ok   GET \/healthz/);
    expect(said("docker exec steward steward status")[0]).toContain("ready");
    // The data outlives the stack.
    const { stdout } = await docker(["volume", "ls", "--quiet", "--filter", `name=^${volume}$`]);
    expect(stdout.trim()).toBe(volume);
    const printed = ended.map((typed) => typed.said).join("\n");
    for (const secret of Object.values(VALUES)) expect(printed).not.toContain(secret);
  },
  UPDATE_MS * 4,
);
