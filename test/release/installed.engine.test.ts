import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { stewardPolicies } from "../../policies/rules.ts";
import { fixFor, type } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startAnsweringStage, type AnsweringStage } from "../support/answering-stage.ts";
import { MODEL_KEY, SIGNING_SECRET, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";

/** A release tests its package before its image is published: nothing may ask for the image here. */
const UNPUBLISHED = {
  name: "127.0.0.1:9/example/steward:0.1.0",
  signer: { identity: "https://example.com/release.yml", issuer: "https://example.com" },
};

let stage: AnsweringStage;
let world: ServerlessStage;
let project: Project;

beforeAll(async () => {
  stage = await startAnsweringStage();
  ({ world } = stage);
  project = await emptyProject("installed", { image: UNPUBLISHED });
}, ENGINE_MS);

afterAll(async () => {
  await stage?.close();
  await project?.remove();
}, UPDATE_MS);

/** Runs this checkout's compiler on a file of the project. */
async function checkTypes(file: string): Promise<void> {
  const compiler = path.resolve("node_modules/typescript/bin/tsc");
  const flags = "--noEmit --strict --skipLibCheck --target es2024 --module nodenext --types node";
  await project.works(`node ${compiler} ${flags} --typeRoots ${path.resolve("node_modules/@types")} ${file}`);
}

test(
  "an empty folder with the packed package goes up, has nothing to change, and is removed again",
  async () => {
    const { shell, works } = project;
    await project.begin("serverless");
    const wrong = await type(shell, "pulumi preview -s dev");
    expect(wrong.code).not.toBe(0);
    expect(wrong.said).toContain("steward:accountId: missing");

    const { "steward:origin": origin } = world.config();
    await project.configure(
      {
        "steward:target": "serverless",
        "steward:accountId": ACCOUNT,
        "steward:subdomain": "acme",
        "steward:teamDomain": world.identity.url,
        "steward:operators": '["op@acme.com"]',
        "steward:origin": origin?.value ?? "",
        "steward:endpoints": stage.endpoints,
        "cloudflare:baseUrl": world.stage.cloudflare.url,
      },
      {
        "cloudflare:apiToken": TOKEN,
        "steward:anthropicApiKey": MODEL_KEY,
        "steward:slackBotToken": "xoxb-test-0123456789",
        "steward:slackSigningSecret": SIGNING_SECRET,
      },
    );

    const { said } = await works("pulumi up -s dev");
    await works("npm pkg delete type");
    const unrun = await type(shell, "pulumi up -s dev");
    expect(unrun.code).not.toBe(0);
    expect(unrun.said).toContain("(program_not_run)");
    expect(unrun.said).not.toContain("deleted");
    expect(unrun.said).not.toMatch(/^ +at /m);
    await works(fixFor("program_not_run", unrun.said));
    const { hash } = await buildBundle();
    expect(said).toContain(`bundleHash            : "${hash}"`);
    expect(said).toContain('slackManifest         : "npx steward-deploy slack-manifest dev"');
    expect((await fetch(`${world.front.url}/healthz`)).status).toBe(200);
    expect((await works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect((await works("npx steward-deploy drift dev")).said).toContain("No drift.");
    const rollout = await works("npm run --silent rollout -- dev");
    expect(rollout.said).toContain("No changes.");
    expect((await works("npx steward-deploy slack-manifest dev")).said).toContain(
      `${world.front.url}/slack/events`,
    );
    expect(await stage.converse()).not.toBe("");
    await works("npx steward-deploy backup dev --create");
    const destroyed = (await works("pulumi destroy -s dev")).said;
    expect(destroyed).toMatch(/- \d\d deleted/);
    expect(destroyed).toMatch(/The bucket bot-dev-steward stays, with \d+ objects/);
    expect(await stage.keysOf("bot-dev-steward")).toContainEqual(
      expect.stringMatching(/^steward\/generations\//),
    );
  },
  UPDATE_MS * 4,
);

test(
  "the program of docs/components.md type-checks against the package, and a preview makes nothing else than it says",
  async () => {
    const { shell, works } = project;
    const page = await readFile("docs/components.md", "utf8");
    const [, example = ""] = /```ts\n(.*?)```/s.exec(page) ?? [];
    await writeFile(path.join(shell.folder, "gateways.ts"), example);
    // The account is an emulated one, and this engine may have no Docker.
    const address = `requireSecret("apiToken"), baseUrl: "${world.stage.cloudflare.url}" }`;
    const program = example
      .replace('requireSecret("apiToken") }', address)
      .replace(/const engine.*?(?=export)/s, "")
      .replace("  models,", '  models, image: "build",')
      .replace(", office.url", "");
    await writeFile(path.join(shell.folder, "index.js"), program);
    const settings = { accountId: ACCOUNT, subdomain: "acme" };
    for (const [key, value] of Object.entries(settings)) {
      await works(`pulumi config set -s dev ${key} ${value}`);
    }
    for (const key of ["anthropicApiKey", "slackBotToken", "slackSigningSecret"]) {
      await works(`pulumi config set -s dev --secret ${key} xoxb-test-0123456789`);
    }

    await checkTypes("gateways.ts");
    const { said } = await works("pulumi preview -s dev");
    expect(said).toContain("steward:index:ServerlessGateway support create");
    expect(said).toContain('[0]: "https://bot-dev-support-steward.acme.workers.dev"');
    expect(said).toMatch(/Resources:\n +\+ \d+ to create\n/);
  },
  UPDATE_MS,
);

/** A program of the user's, in the package's types alone. */
const OPERATES = `
import type { PolicyPackConfig } from "@pulumi/policy";
import { drift, type DriftResult, rollout, type RolloutResult, StewardError } from "steward-gateway/commands";
import { type Config, ERRORS, type ErrorCode, type InboundMessage, ROUTES } from "steward-gateway/contract";
import type { ServerlessGateway } from "steward-gateway/gateway";
import { stewardPolicies } from "steward-gateway/policies";

export type Known = [Config, InboundMessage, ErrorCode, PolicyPackConfig, ServerlessGateway];
const none = await drift("dev").catch((error: unknown) => error);
const lines: string[] = [];
const deployed: RolloutResult = await rollout("dev", { yes: true, log: (line) => lines.push(line) });
const after: DriftResult = await drift("dev");
const waits = await rollout("dev", { promoteFrom: "dev" }).catch((error: unknown) => error);
const own = { name: "mine", policies: [...stewardPolicies] };
console.log(JSON.stringify({
  none: none instanceof StewardError && none.code,
  lines: lines.length,
  deployed,
  after,
  waits: waits instanceof Error && "code" in waits && waits.code,
  rules: own.policies.length,
  ready: ROUTES.ready.path,
  known: ERRORS.stack_not_deployed.status,
}));
`;

/** A policy pack of the user's: the package's rules, and one more that this stack breaks. */
const OWN_PACK = `
import { PolicyPack } from "@pulumi/policy";
import { stewardPolicies } from "steward-gateway/policies";

const own = {
  name: "small-machines",
  description: "no container is lite",
  enforcementLevel: "mandatory",
  validateResource: ({ type, props }, report) => {
    if (type === "steward:serverless:ContainerApplication" && props.instanceType === "lite") report("it is lite");
  },
};
new PolicyPack("mine", { policies: [...stewardPolicies, own] });
`;

test(
  "a program in TypeScript uses the commands as functions, the rules and the contract, and nothing else",
  async () => {
    const { shell, works } = project;
    await writeFile(path.join(shell.folder, "operate.ts"), OPERATES);
    await checkTypes("operate.ts");
    const { said } = await works("node operate.ts");
    // The program's own line alone: no function writes to standard output.
    expect(JSON.parse(said)).toMatchObject({
      none: "stack_not_deployed",
      lines: expect.any(Number),
      deployed: { exit: 0, plan: { broken: [], gates: [] }, deployed: { bundle: expect.any(String) } },
      after: { drift: [] },
      waits: "promotion_to_itself",
      rules: stewardPolicies.length,
      ready: "/readyz",
    });

    const pack = path.join(shell.folder, "pack");
    await mkdir(pack);
    await writeFile(path.join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\nmain: index.js\n");
    await writeFile(path.join(pack, "package.json"), '{"type":"module","version":"1.0.0"}\n');
    await writeFile(path.join(pack, "index.js"), OWN_PACK);
    const judged = await type(shell, "pulumi preview -s dev --policy-pack pack");
    expect(judged.code).not.toBe(0);
    expect(judged.said).toContain("small-machines");
    expect(judged.said).toContain("bucket-lifecycle");
    await works("pulumi destroy -s dev");

    const inside = [
      "stacks/program.js",
      "policies/build.js",
      "runtime/contract/names.js",
      "rehearsal/start.js",
    ];
    for (const file of inside) {
      const { code, said: why } = await type(shell, `node -e 'import("steward-gateway/${file}")'`);
      expect(code).not.toBe(0);
      expect(why).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
    }
  },
  UPDATE_MS * 3,
);

test("the package's command lists what there is, and refuses what there is not", async () => {
  const { shell, works } = project;
  const help = await works("npx steward-deploy --help");
  expect(help.said).toContain("rollout");
  const wrong = await type(shell, "npx steward-deploy rolout dev");
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain("unknown command rolout");
  expect((await works("npx steward-deploy rollout --help")).said).toContain(
    "Usage: npx steward-deploy rollout",
  );
});
