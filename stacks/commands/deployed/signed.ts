import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import {
  generationManifest,
  type GenerationManifest,
  type RestoreReport,
} from "../../../runtime/contract/backup.ts";
import { isErrorCode, StewardError } from "../../../runtime/contract/errors.ts";
import { ROUTES, type Route } from "../../../runtime/contract/routes.ts";
import type { Renewal } from "../../../runtime/contract/tenant.ts";
import { type ReplayRecord, replayRecordSchema } from "../../../runtime/contract/replay.ts";
import { askAsStack, type StackQuestion } from "../../../infra/readiness/ask-as-stack.ts";
import { type DeployedState, findResource, gatewayOf } from "./stack.ts";

/** Longer than the service's own timeouts. */
const ANSWER_MS = 200_000;
/**
 * Number of failed attempts after which the gateway counts as down. The attempts span one minute; a cold start takes
 * seconds.
 */
const READY_ATTEMPTS = 30;
const READY_RETRY_MS = 2_000;

const manifest = z.looseObject({
  id: generationManifest.shape.id,
  createdAt: generationManifest.shape.createdAt,
});
const configProblem = z.looseObject({ path: z.string(), message: z.string() });
const drillReport = z.looseObject({ configProblems: z.array(configProblem) });
const renewal = z.looseObject({
  begun: z.number(),
  answering: z.number(),
  failing: z.array(z.string()),
});
const problem = z.looseObject({ code: z.string(), detail: z.string() });

/** Form in which Pulumi writes a decrypted secret. */
const secret = z.looseObject({ plaintext: z.string().transform((text) => JSON.parse(text) as unknown) });

export interface StackBackups {
  /** Returns the backups, newest first, and the error of the last backup or restore if it failed. */
  list(): Promise<{ backups: Manifest[]; problem?: { code: string; detail: string } | undefined }>;
  create(): Promise<Manifest>;
  /** Unpacks and checks the newest backup in a separate folder. */
  verify(): Promise<{ backup: Manifest; report: Pick<RestoreReport, "configProblems"> }>;
}

type Manifest = Pick<GenerationManifest, "id" | "createdAt">;

/**
 * Returns a deployed gateway's backups, or `undefined` if the state has no URL or signing key. Each method rejects
 * with the service's StewardError, or `service_unreachable` if the response is not from steward.
 *
 * @param gateway Component name. Default: the only gateway.
 * @throws BuildFailure `gateway_unknown`
 */
export function openStackBackups(state: DeployedState, gateway?: string): StackBackups | undefined {
  const ask = askerOf(state, gateway);
  return (
    ask && {
      list: () =>
        ask(ROUTES.stackBackups, z.object({ backups: z.array(manifest), problem: problem.optional() })),
      create: async () => (await ask(ROUTES.stackBackupsCreate, z.object({ backup: manifest }))).backup,
      verify: () => ask(ROUTES.stackBackupsVerify, z.object({ backup: manifest, report: drillReport })),
    }
  );
}

/**
 * Returns a function that fetches the record of past events, or `undefined` if the state has no URL or signing key.
 * The returned function rejects with StewardError `replay_not_allowed` if the deployment does not allow replay, and
 * with `not_found` if the deployed version has no replay.
 */
export function openStackReplay(state: DeployedState): (() => Promise<ReplayRecord>) | undefined {
  const ask = askerOf(state);
  return ask && (() => untilReady(() => ask(ROUTES.stackReplay, replayRecordSchema)));
}

/**
 * Returns `undefined` if the state has no URL or signing key. Otherwise returns a function that resolves to the
 * progress of replacing the chats' containers, or to `null` if one sandbox serves every chat.
 */
export function openStackRenewal(state: DeployedState): (() => Promise<Renewal | null>) | undefined {
  const ask = askerOf(state);
  return ask && (() => ask(ROUTES.stackChats, renewal.nullable()));
}

async function untilReady<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const isStarting = error instanceof StewardError && error.code === "gateway_unavailable";
      if (!isStarting || attempt === READY_ATTEMPTS) throw error;
      await sleep(READY_RETRY_MS);
    }
  }
}

type Ask = <Answer>(route: Route, schema: Schema<Answer>) => Promise<Answer>;
type Schema<Answer> = { safeParse(value: unknown): z.core.util.SafeParseResult<Answer> };

function askerOf(state: DeployedState, gateway?: string): Ask | undefined {
  const { name, url } = gatewayOf(state, gateway);
  const found = findResource(state, "AttestationKey", "attestation-key", name)?.outputs?.["key"];
  const key = z.union([z.string(), secret.transform(({ plaintext }) => String(plaintext))]).safeParse(found);
  if (url === "" || !key.success) return undefined;
  return (route, schema) => signedAnswer({ url, key: key.data, route, timeoutMs: ANSWER_MS }, schema);
}

async function signedAnswer<Answer>(question: StackQuestion, schema: Schema<Answer>): Promise<Answer> {
  const response = await askAsStack(question);
  const body: unknown = await response.json().catch(() => undefined);
  const told = problem.safeParse(body);
  if (!response.ok && told.success && isErrorCode(told.data.code)) {
    throw new StewardError(told.data.code, told.data.detail);
  }
  const answer = schema.safeParse(body);
  if (response.ok && answer.success) return answer.data;
  // Something other than steward responded, such as a proxy or an identity gateway.
  const { url, route } = question;
  const detail = `${url}${route.path} answered with ${response.status}, which is not a response from steward.`;
  throw new StewardError("service_unreachable", detail);
}
