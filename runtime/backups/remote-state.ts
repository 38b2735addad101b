import * as z from "zod/mini";
import {
  type ConfigSource,
  generationManifest,
  type GenerationManifest,
  type RestoreReport,
} from "../contract/backup.ts";
import {
  type ChatsReport,
  type ConfigText,
  CONTROL_ROUTES,
  MANIFEST_HEADER,
  type SnapshotRequest,
  type StateRevision,
} from "../contract/control.ts";
import { type ErrorCode, ERRORS, isErrorCode, type Reason, StewardError } from "../contract/errors.ts";
import type { Approvals, TenantId } from "../contract/tenant.ts";
import { pause } from "../shared/backoff.ts";
import type { Archive, GatewayState, ReceiveOptions } from "./store.ts";

/** Timeout per transfer, long enough for the largest expected archive. */
const TRANSFER_TIMEOUT_MS = 10 * 60_000;
const QUESTION_TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;
const POLL_MS = 50;

const refusal = z.object({ code: z.string(), detail: z.string() });
const supervised = z.object({ state: z.string(), start: z.optional(z.object({ phase: z.string() })) });
const stateRevision: z.ZodMiniType<StateRevision> = z.object({ revision: z.string() });
const configText: z.ZodMiniType<ConfigText> = z.object({
  text: z.nullable(z.string()),
  sha256: z.nullable(z.string()),
  secrets: z.optional(z.array(z.string())),
});
const chatsReport: z.ZodMiniType<ChatsReport> = z.object({
  tenants: z.array(z.string()),
  scheduled: z.array(z.string()),
  // Containers of earlier versions omit this field.
  shared: z._default(z.boolean(), false),
  broughtBack: z.record(z.string(), z.string()),
});
const restoreReport: z.ZodMiniType<RestoreReport> = z.object({
  id: z.string(),
  counts: generationManifest.shape.counts,
  configProblems: z.array(z.object({ path: z.string(), message: z.string() })),
});

export type StreamedArchive = Archive<ReadableStream<Uint8Array>>;

export interface SupervisorPort {
  /** Resolves with the supervisor's status, or with `undefined` if it does not answer. */
  status(): Promise<object | undefined>;
  control(path: string, init: RequestInit, timeoutMs: number): Promise<Response>;
}

/**
 * State in a container, accessed through its supervisor. Throws a StewardError if the supervisor refuses a request;
 * any other error means that the supervisor did not answer.
 */
export class RemoteState implements GatewayState<ReadableStream<Uint8Array>> {
  readonly #supervisor: SupervisorPort;

  constructor(supervisor: SupervisorPort) {
    this.#supervisor = supervisor;
  }

  /** Returns true if the supervisor answers. Tries three times, because it may be busy. */
  async answers(): Promise<boolean> {
    for (let asked = 0; asked < ATTEMPTS; asked += 1) {
      if ((await this.#supervisor.status()) !== undefined) return true;
    }
    return false;
  }

  /** Returns true if the gateway was started. Restoring a backup would then discard the gateway's changes. */
  async hasGateway(): Promise<boolean> {
    const { data } = supervised.safeParse(await this.#supervisor.status());
    return data !== undefined && data.state !== "stopped" && data.start?.phase !== "restoring";
  }

  /** Waits until the supervisor listens. Rejects if the container ends. */
  async listening(running: () => boolean): Promise<void> {
    while ((await this.#supervisor.status()) === undefined) {
      if (!running()) throw new Error("The container ended before it answered.");
      await pause(POLL_MS);
    }
  }

  async revision(): Promise<string> {
    return (await this.#json(stateRevision, CONTROL_ROUTES.revision)).revision;
  }

  snapshot(id: string): Promise<GenerationManifest> {
    return this.#snapshot(CONTROL_ROUTES.generations, id);
  }

  async #snapshot(path: string, id: string): Promise<GenerationManifest> {
    const request: SnapshotRequest = { id };
    const init = { method: "POST", body: JSON.stringify(request) };
    const answer = await this.#json(z.unknown(), path, init, TRANSFER_TIMEOUT_MS);
    const { data } = generationManifest.safeParse(answer);
    if (data?.id !== id)
      throw new StewardError("backup_failed", "The container's answer is not the manifest of this copy.");
    return data;
  }

  chats(): Promise<ChatsReport> {
    return this.#json(chatsReport, CONTROL_ROUTES.chats);
  }

  snapshotChat(tenant: TenantId, id: string): Promise<GenerationManifest> {
    return this.#snapshot(`${CONTROL_ROUTES.chats}/${tenant}`, id);
  }

  /** The gateway must not be running. */
  mergeTenant(tenant: TenantId, archive: StreamedArchive): Promise<RestoreReport> {
    return this.#upload(restoreReport, archive, { config: "current", chat: tenant });
  }

  /** The gateway must not be running. */
  async replaceApprovals(approvals: Approvals): Promise<void> {
    const init = { method: "PUT", body: JSON.stringify(approvals) };
    await this.#send(`${CONTROL_ROUTES.chats}/approvals`, init);
  }

  async startGateway(): Promise<void> {
    await this.#send(CONTROL_ROUTES.restart, { method: "POST" });
  }

  async archive(id: string): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#ask(`${CONTROL_ROUTES.generations}/${id}`, {}, TRANSFER_TIMEOUT_MS);
    if (body === null) throw new StewardError("backup_failed", "The container answered without an archive.");
    return body;
  }

  async discard(id: string): Promise<void> {
    await this.#send(`${CONTROL_ROUTES.generations}/${id}`, { method: "DELETE" });
  }

  receive(archive: StreamedArchive, { config, start }: ReceiveOptions): Promise<RestoreReport> {
    return this.#upload(restoreReport, archive, { config, ...(!start && { start: "false" }) });
  }

  verifyArchive(archive: StreamedArchive): Promise<RestoreReport> {
    return this.#upload(restoreReport, archive, { config: "generation", drill: "true" });
  }

  showConfig(archive: StreamedArchive): Promise<ConfigText> {
    return this.#upload(configText, archive, { config: "generation", show: "config" });
  }

  /** Replaces the config with the archive's, restarts the gateway and returns the new config. */
  async takeConfig(archive: StreamedArchive): Promise<ConfigText> {
    const taken = await this.#upload(configText, archive, { config: "generation", take: "config" });
    await this.startGateway();
    return taken;
  }

  async receiveEmpty({ start }: Pick<ReceiveOptions, "start">): Promise<void> {
    const query = restoreQuery({ config: "fresh", ...(!start && { start: "false" }) });
    await this.#send(query, { method: "POST" });
  }

  configText(): Promise<ConfigText> {
    return this.#json(configText, CONTROL_ROUTES.configFile);
  }

  /**
   * Replaces the config of a running gateway, which reloads it.
   *
   * @returns the reason if the config is invalid and was refused
   */
  async replaceConfig(config: string): Promise<Reason | undefined> {
    const { sha256 } = await this.configText();
    const query = new URLSearchParams({ expected: sha256 ?? "none", secrets: "plain" });
    try {
      await this.#send(`${CONTROL_ROUTES.configFile}?${query}`, { method: "PUT", body: config });
      return undefined;
    } catch (error) {
      if (error instanceof StewardError && error.code === "config_invalid") return error.reason;
      throw error;
    }
  }

  /** Writes a config without checking it and starts the gateway, which checks it. */
  async startWithConfig(config: string): Promise<void> {
    const { sha256 } = await this.configText();
    const query = new URLSearchParams({ expected: sha256 ?? "none", unchecked: "true" });
    await this.#send(`${CONTROL_ROUTES.configFile}?${query}`, { method: "PUT", body: config });
    await this.startGateway();
  }

  #upload<T>(
    answer: z.ZodMiniType<T>,
    { manifest, content }: StreamedArchive,
    query: Record<string, string> & { config: ConfigSource },
  ): Promise<T> {
    const headers = { [MANIFEST_HEADER]: JSON.stringify(manifest) };
    const init = { method: "POST", headers, body: content, duplex: "half" } as const;
    return this.#json(answer, restoreQuery(query), init, TRANSFER_TIMEOUT_MS);
  }

  async #send(path: string, init: RequestInit): Promise<void> {
    const response = await this.#ask(path, init);
    await response.body?.cancel();
  }

  async #json<T>(
    answer: z.ZodMiniType<T>,
    path: string,
    init: RequestInit = {},
    timeoutMs = QUESTION_TIMEOUT_MS,
  ): Promise<T> {
    const response = await this.#ask(path, init, timeoutMs);
    const { success, data } = answer.safeParse(await response.json());
    if (!success)
      throw new StewardError("backup_failed", `The container's answer to ${path} has an unexpected format.`);
    return data;
  }

  async #ask(path: string, init: RequestInit, timeoutMs = QUESTION_TIMEOUT_MS): Promise<Response> {
    const response = await this.#supervisor.control(path, init, timeoutMs);
    if (response.ok) return response;
    const document: unknown = await response.json().catch(() => undefined);
    throw readRefusal(document, `The container's supervisor answered ${response.status}.`);
  }
}

function restoreQuery(query: Record<string, string> & { config: ConfigSource }): string {
  return `${CONTROL_ROUTES.restore}?${new URLSearchParams(query)}`;
}

function readRefusal(refused: unknown, otherwise: string): StewardError {
  const { data } = refusal.safeParse(refused);
  if (data !== undefined && isErrorCode(data.code)) return new StewardError(data.code, data.detail);
  return new StewardError("backup_failed", otherwise);
}

/**
 * Returns a StewardError unchanged. Wraps any other error in a StewardError with `code`. The new message includes the
 * original message, which must not contain secrets.
 */
export function withErrorCode(error: unknown, code: ErrorCode): StewardError {
  if (error instanceof StewardError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StewardError(code, `${ERRORS[code].cause} (${message})`, { cause: error });
}
