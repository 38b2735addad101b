import { setTimeout as sleep } from "node:timers/promises";
import { sharesText } from "../../../infra/serverless/deployment.ts";
import {
  type DeployedNames,
  type PreviousVersion,
  restorePreviousVersion,
  readPreviousVersion,
} from "../../../infra/serverless/previous-version.ts";
import { readLiveWorker } from "../../../infra/serverless/live-worker.ts";
import { pendingEntries } from "../../../infra/serverless/migration-list.ts";
import { applicationName } from "../../../infra/serverless/names.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { openStackBackups, openStackRenewal, openStackReplay } from "../deployed/signed.ts";
import { serverlessSettings } from "../deployed/config.ts";
import { type DeployedStack, findResource, deployedTarget, deployedWorkerName } from "../deployed/stack.ts";
import type { Baseline } from "./baseline.ts";

const ANSWER_MS = 5_000;
/** Failed attempts after which the running version counts as down. A busy service may answer late. */
const ANSWER_ATTEMPTS = 3;
const BACK_MS = 60_000;
const RETRY_MS = 500;

const VERSION = ["WorkerVersion", "worker-current"] as const;

export async function readBaseline(stack: DeployedStack): Promise<Baseline> {
  return (await deployedTarget(stack)) === "host" ? hostBefore(stack) : serverlessBefore(stack);
}

async function hostBefore({ state }: DeployedStack): Promise<Baseline> {
  const deployed = await state();
  const url = deployed.output("url");
  const answered = await runningVersion(url);
  return {
    migrations: [],
    previous: undefined,
    backups: undefined,
    replay: openStackReplay(deployed),
    strayed: undefined,
    async restorePrevious() {
      if (answered === undefined)
        throw new Error(
          `nothing answered at ${url} before this rollout, so there is no version to roll back to`,
        );
      await waitForVersion(url, answered);
      return [`The previous version answers at ${url}.`];
    },
  };
}

async function serverlessBefore(deployed: DeployedStack): Promise<Baseline> {
  const { config, cloudflare } = serverlessSettings(await deployed.config());
  const { accountId, workerName, migrations } = config;
  const state = await deployed.state();
  const scriptName = deployedWorkerName(state) ?? workerName;
  const access = { accountId, ...cloudflare };
  const live = await readLiveWorker(access, scriptName);
  const place: DeployedNames = { access, scriptName, applicationName: applicationName(scriptName) };
  const version = await readPreviousVersion(place);
  const url = state.output("url");
  const made = findResource(state, ...VERSION)?.id;
  const isStray = made !== undefined && version !== undefined && !isWhole(version, made);
  return {
    // Without a Worker there is no data, so no migration needs approval.
    migrations: live === undefined ? [] : pendingEntries(migrations, live).map(({ tag }) => tag),
    previous: version && { version, answered: await runningVersion(url) },
    backups: openStackBackups(state),
    replay: openStackReplay(state),
    renewal: config.tenancy === "chat" ? openStackRenewal(state) : undefined,
    strayed: isStray
      ? `The live version is not the one that this stack deployed: live is ${sharesText(version.versions)}, deployed was version ${made}.`
      : undefined,
    async restorePrevious(previous) {
      if (previous === undefined)
        throw new Error("no version ran before, so there is nothing to roll back to");
      const done = await restorePreviousVersion(place, previous.version);
      if (previous.answered === undefined) return done;
      await waitForVersion(url, previous.answered);
      return [...done, `The previous version answers at ${url}.`];
    },
  };
}

function isWhole({ versions }: PreviousVersion, versionId: string): boolean {
  return versions.every((share) => share.versionId === versionId);
}

/** Works like {@link answerOf}, but asks several times. */
async function runningVersion(url: string): Promise<string | undefined> {
  for (let attempt = 1; attempt < ANSWER_ATTEMPTS; attempt += 1) {
    const answer = await answerOf(url);
    if (answer !== undefined || url === "") return answer;
    await sleep(RETRY_MS);
  }
  return answerOf(url);
}

/** Returns the deployment's bundle hash and secrets hash, separated by a space; `undefined` if nothing answers. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}${ROUTES.ready.path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { bundle, attestation } = (await response.json()) as Record<string, unknown>;
    return typeof bundle === "string" ? [bundle, attestation].join(" ").trimEnd() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until the deployment reports the version `wanted`.
 *
 * @throws Error if the wait takes too long.
 */
async function waitForVersion(url: string, wanted: string): Promise<void> {
  const end = Date.now() + BACK_MS;
  for (;;) {
    const answer = await answerOf(url);
    if (answer === wanted) return;
    if (Date.now() > end) throw new Error(`${url} reports version ${answer ?? "none"} instead of ${wanted}`);
    await sleep(RETRY_MS);
  }
}
