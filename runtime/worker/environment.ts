import type { R2Bucket, SendEmail } from "@cloudflare/workers-types/index.ts";
import { type EdgeSettings, type Environment, readEdgeSettings } from "../contract/environment.ts";
import type { GrantedRole } from "../contract/config/rights.ts";
import type { OperationReply, OperationRequest } from "../contract/control.ts";
import type { TenantId } from "../contract/tenant.ts";
import { trimmedVariables } from "../contract/variables.ts";
import { StewardError } from "../contract/errors.ts";
import { createLog, type Log, LOG_LEVELS } from "../shared/log.ts";
import { createRedactor } from "../shared/redact.ts";
import type { DeviceEntry, NewDevice } from "../shared/devices.ts";
import type { AlertSender } from "../edge/alerts.ts";
import type { Grant, RenewalOutcome, TenantDirectory, Tenants } from "../edge/tenants/ports.ts";
import type { Activity, AnswerMemory, Ledger, NameDirectory, Sandbox, Signatures } from "../edge/ports.ts";
import type { BackupsDoor } from "./remote-backups.ts";
import type { Remote } from "./rpc.ts";

const METHODS = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;

/** The call for requests as they are: a response with a WebSocket passes through `fetch` only. */
export interface ChatDoor {
  fetch(request: Request): Promise<Response>;
}

/** A tenant's object as the directory uses it. */
export interface TenantObject {
  changeRights(grant: Grant): Promise<void>;
  /** An operator has changed the rights of the browser; `role` is absent for one that was revoked. */
  changeBrowser(role: GrantedRole | undefined): Promise<void>;
  /** Starts the container, unless nobody may write in the chat: it has a schedule. Rejects if it does not get ready. */
  beginSchedules(): Promise<void>;
  /** Gives a running container the deployment's config. */
  followConfig(): Promise<void>;
  /** @returns true if the container does not run any more. */
  sleepEarly(): Promise<boolean>;
  /** Starts a container that sleeps, and returns whether it answers with this version's variables. */
  lookAsDeployed(): Promise<RenewalOutcome>;
  /** The tenancy has ended: resolves when the container has, after a last backup. */
  handOver(): Promise<void>;
}

/** The object that served every chat, as a tenant's object uses it. */
export interface FormerObject {
  /** Stores what it knows of a chat below the chat's prefix, unless that was done. */
  moveOut(tenant: TenantId): Promise<void>;
  /** Returns the start of the last time in which it served every chat; `undefined` if it has no state. */
  servedAllSince(): Promise<string | undefined>;
}

/** Call for browsers that share one sandbox. */
export interface SharedBrowsers {
  /** Wakes the container for a browser with a proven key. @returns false for one that was not let in */
  wakeFor(deviceId: string): Promise<boolean>;
}

/** The Durable Object's calls: the edge's ports, backups, and requests as they are. */
export type SandboxCalls = Remote<
  Ledger &
    NameDirectory &
    Activity &
    AnswerMemory &
    Signatures &
    Sandbox &
    TenantObject &
    FormerObject &
    SharedBrowsers
> &
  BackupsDoor &
  ChatDoor;

/** The directory as the edge uses it: who may write to the bot. */
export interface PeopleOperations {
  operate(request: OperationRequest): Promise<OperationReply>;
  /** See `Devices.enter`. */
  enter(device: NewDevice, known?: string): Promise<DeviceEntry>;
}

/** The directory's calls. */
export type DirectoryCalls = Remote<TenantDirectory & Required<Tenants> & PeopleOperations & NameDirectory>;

/** Bindings of the Worker: text and secret variables beside the Durable Object namespace and the bucket. */
export interface WorkerEnvironment {
  SANDBOX: {
    getByName(name: string): SandboxCalls;
  };
  /** Only where each chat has a sandbox of its own. */
  DIRECTORY?: {
    getByName(name: string): DirectoryCalls;
  };
  STATE: R2Bucket;
  /** https://developers.cloudflare.com/workers/runtime-apis/bindings/version-metadata/ */
  VERSION?: { id: string };
  /** Only where alerts go out by e-mail. */
  ALERT_EMAIL?: SendEmail;
}

/**
 * Returns the Worker's variables and the settings read from them.
 *
 * @throws StewardError `environment_invalid`, naming every problem.
 */
export function readWorker(env: WorkerEnvironment): { variables: Environment; settings: EdgeSettings } {
  const texts = Object.entries(env).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const given = Object.fromEntries(texts);
  const variables = { ...given, ...trimmedVariables(given) };
  const result = readEdgeSettings(variables);
  if (!result.ok) throw new StewardError("environment_invalid", result.problems.join("; "));
  return { variables, settings: result.settings };
}

/** Returns the way to send an e-mail, where the Worker is bound to one. */
export function emailOf({ ALERT_EMAIL: binding }: WorkerEnvironment): AlertSender["sendEmail"] {
  return binding && ((email) => binding.send(email));
}

/** Returns a log of JSON lines on the console, for Workers Logs. LOG_LEVEL sets the level; secrets are redacted. */
export function consoleLog(environment: Environment): Log {
  return createLog({
    name: "edge",
    level: LOG_LEVELS.find((level) => level === environment["LOG_LEVEL"]) ?? "info",
    redact: createRedactor(environment),
    // oxlint-disable-next-line no-console -- the platform's only log sink
    write: (line, level) => console[METHODS[level]](line),
  });
}
