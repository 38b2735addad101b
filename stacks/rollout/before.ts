import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { connect } from "../../infra/serverless/container-api.ts";
import {
  putBack,
  readFormer,
  type Deployed,
  type FormerVersion,
} from "../../infra/serverless/former-version.ts";
import { addedTags, type PlannedMigrations } from "../../infra/serverless/migration-changes.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { readServerless } from "../deployed/config.ts";

const DEPLOYMENT = "WorkersDeployment::worker-deployed";
const PLAN = "MigrationPlan::migrations";
const ANSWER_MS = 5_000;
const BACK_MS = 60_000;
const RETRY_MS = 500;

/** What the stack's state knows of one resource. */
interface Known {
  urn: string;
  id?: string;
  inputs?: Record<string, unknown>;
}

/** What ran before an update. Plain data: a record keeps it. */
export interface Former {
  version: FormerVersion;
  /** What answered, where something did. */
  answered: string | undefined;
}

/** A stack before an update, and the way back to it. */
export interface Before {
  /** Tags that the update applies to a Worker that is there. */
  migrations: string[];
  /** Absent where nothing runs yet, and on a host, whose update keeps and puts back the former container by itself. */
  former: Former | undefined;
  /** URNs of resources that are made anew: somebody went back to a version before them. */
  replace: string[];
  /** Puts the former version back and waits until it answers. @returns what was done, a line each; throws where it cannot. */
  goBack(former: Former | undefined): Promise<string[]>;
}

/** Looks at a stack before its update. */
export async function lookBefore(stack: Stack): Promise<Before> {
  const target = await stack.getAllConfig().then((config) => config["steward:target"]?.value);
  return target === "host" ? hostBefore(stack) : serverlessBefore(stack);
}

async function serverlessBefore(stack: Stack): Promise<Before> {
  const { config, cloudflare } = await readServerless(stack);
  const { accountId, workerName, migrations } = config;
  const { deployment } = await stack.exportStack();
  const { resources = [] } = deployment as { resources?: Known[] };
  const known = (end: string) => resources.find(({ urn }) => urn.endsWith(end));
  const deployed = known(PLAN)?.inputs as PlannedMigrations | undefined;
  const recorded = known(DEPLOYMENT);
  const client = await connect(cloudflare.apiToken, cloudflare.baseURL);
  const scriptName = deployed?.workerName ?? workerName;
  const place: Deployed = { accountId, scriptName, applicationName: `${scriptName}-sandbox` };
  const version = await readFormer(client, place);
  const url = await addressOf(stack);
  const overtaken = recorded !== undefined && version !== undefined && recorded.id !== version.deployment;
  return {
    // A stack that has no Worker yet has nothing to lose.
    migrations: deployed === undefined ? [] : addedTags(deployed, { workerName, migrations }),
    former: version && { version, answered: await answerOf(url) },
    replace: overtaken ? [recorded.urn] : [],
    async goBack(former) {
      if (former === undefined) throw new Error("nothing ran before that could be gone back to");
      const done = await putBack(client, place, former.version);
      await untilAnswers(url, former.answered);
      return [...done, `The former version answers at ${url}.`];
    },
  };
}

async function hostBefore(stack: Stack): Promise<Before> {
  const url = await addressOf(stack);
  const answered = await answerOf(url);
  return {
    migrations: [],
    former: undefined,
    replace: [],
    async goBack() {
      if (answered === undefined) throw new Error("nothing answered before that could be gone back to");
      await untilAnswers(url, answered);
      return [`The former version answers at ${url}.`];
    },
  };
}

async function addressOf(stack: Stack): Promise<string> {
  return String((await stack.outputs())["url"]?.value ?? "");
}

/** Waits until this answers; where nothing did before, there is nothing to wait for. */
async function untilAnswers(url: string, wanted: string | undefined): Promise<void> {
  if (wanted === undefined) return;
  const end = Date.now() + BACK_MS;
  for (;;) {
    const answer = await answerOf(url);
    if (answer === wanted) return;
    if (Date.now() > end) throw new Error(`${url} answers as ${answer ?? "nothing"}, not as ${wanted}`);
    await sleep(RETRY_MS);
  }
}

/** By what a deployment is known from outside: the bundle that answers, and the secrets that it runs with. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}${ROUTES.ready.path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { bundle, attestation } = (await response.json()) as Record<string, unknown>;
    return typeof bundle === "string" ? [bundle, attestation].join(" ").trimEnd() : undefined;
  } catch {
    return undefined;
  }
}
