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

/**
 * Entry point of a Durable Object for raw requests. Unlike other methods, `fetch` can return a response with a
 * WebSocket.
 */
export interface ChatDoor {
  fetch(request: Request): Promise<Response>;
}

export interface TenantObject {
  changeRights(grant: Grant): Promise<void>;
  /** Applies an operator's change to the browser's rights. `role` is absent if access was revoked. */
  changeBrowser(role: GrantedRole | undefined): Promise<void>;
  /**
   * Starts the container for the chat's schedules, unless access was revoked. Rejects if the gateway does not become
   * ready.
   */
  beginSchedules(): Promise<void>;
  followConfig(): Promise<void>;
  /** Puts an idle container to sleep. @returns true if the container is no longer running. */
  sleepEarly(): Promise<boolean>;
  /**
   * Starts a stopped container. Returns `answers` if the gateway is ready with the current deployment's variables,
   * `fails` if the gateway is crash-looping with them, else `starts`.
   */
  lookAsDeployed(): Promise<RenewalOutcome>;
  /** Closes the tenant's sandbox. Resolves after a final backup, once the container has stopped. */
  handOver(): Promise<void>;
}

/** Methods of the object that served all chats before each had its own sandbox. */
export interface FormerObject {
  /** Exports the chat's part of the shared state to the chat's prefix in the bucket. */
  moveOut(tenant: TenantId): Promise<void>;
  /**
   * Returns the ISO 8601 time at which this object began to serve all chats; `unknown` if no time was stored,
   * `undefined` if the object has no state.
   */
  servedAllSince(): Promise<string | undefined>;
}

export interface SharedBrowsers {
  /**
   * Wakes the container for a browser that has proven possession of its key.
   *
   * @returns false for a browser that was never admitted
   */
  wakeFor(deviceId: string): Promise<boolean>;
}

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

export interface PeopleOperations {
  operate(request: OperationRequest): Promise<OperationReply>;
  /** See `Devices.enter`. */
  enter(device: NewDevice, known?: string): Promise<DeviceEntry>;
}

export type DirectoryCalls = Remote<TenantDirectory & Required<Tenants> & PeopleOperations & NameDirectory>;

/** Bindings of the Worker. The object also holds the text and secret variables, which {@link readWorker} reads. */
export interface WorkerEnvironment {
  SANDBOX: {
    getByName(name: string): SandboxCalls;
  };
  /** Bound only if each chat has its own sandbox. */
  DIRECTORY?: {
    getByName(name: string): DirectoryCalls;
  };
  STATE: R2Bucket;
  /** https://developers.cloudflare.com/workers/runtime-apis/bindings/version-metadata/ */
  VERSION?: { id: string };
  /** Bound only if alerts are sent by e-mail. */
  ALERT_EMAIL?: SendEmail;
}

/** @throws StewardError `environment_invalid`, listing every problem. */
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

export function emailOf({ ALERT_EMAIL: binding }: WorkerEnvironment): AlertSender["sendEmail"] {
  return binding && ((email) => binding.send(email));
}

/** Returns a logger that writes redacted JSON lines to Workers Logs. LOG_LEVEL sets the lowest level. */
export function consoleLog(environment: Environment): Log {
  return createLog({
    name: "edge",
    level: LOG_LEVELS.find((level) => level === environment["LOG_LEVEL"]) ?? "info",
    redact: createRedactor(environment),
    // oxlint-disable-next-line no-console -- the platform's only log sink
    write: (line, level) => console[METHODS[level]](line),
  });
}
