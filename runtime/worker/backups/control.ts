import * as z from "zod/mini";
import {
  type ConfigSource,
  generationManifest,
  type GenerationManifest,
  type RestoreReport,
} from "../../contract/backup.ts";
import {
  CONTROL_ROUTES,
  MANIFEST_HEADER,
  type ConfigText,
  type SnapshotRequest,
  type StateRevision,
} from "../../contract/control.ts";
import { isErrorCode, StewardError } from "../../contract/errors.ts";
import type { ContainerPorts } from "../container-ports.ts";
import { pause } from "../alarm.ts";

/** An archive of any size, in or out. */
const TRANSFER_TIMEOUT_MS = 10 * 60_000;
const QUESTION_TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;
const POLL_MS = 50;

const refusal = z.object({ code: z.string(), detail: z.string() });

/** An upload into the container. */
export interface Upload {
  manifest: GenerationManifest;
  archive: ReadableStream<Uint8Array>;
  config: ConfigSource;
  /** The gateway is left stopped. */
  hold?: boolean;
  /** Only tried, in a scratch directory. */
  drill?: boolean;
}

/**
 * The supervisor's routes for copies of the state. What it refuses is a StewardError with its code; any other
 * error means that it does not answer.
 */
export class BackupControl {
  readonly #ports: ContainerPorts;

  constructor(ports: ContainerPorts) {
    this.#ports = ports;
  }

  /** Tells whether the supervisor answers; one that is busy gets three questions. */
  async answers(): Promise<boolean> {
    for (let asked = 0; asked < ATTEMPTS; asked += 1) {
      if ((await this.#ports.status()) !== undefined) return true;
    }
    return false;
  }

  /** Waits until the supervisor of a container that is being started listens. Throws where the container ends. */
  async listening(running: () => boolean): Promise<void> {
    while ((await this.#ports.status()) === undefined) {
      if (!running()) throw new Error("The container ended before it answered.");
      await pause(POLL_MS);
    }
  }

  async revision(): Promise<string> {
    const { revision } = await this.#json<StateRevision>(CONTROL_ROUTES.revision);
    return revision;
  }

  /** Makes a generation inside the container. */
  async snapshot(id: string): Promise<GenerationManifest> {
    const request: SnapshotRequest = { id };
    const init = { method: "POST", body: JSON.stringify(request) };
    const answer = await this.#json<unknown>(CONTROL_ROUTES.generations, init, TRANSFER_TIMEOUT_MS);
    const manifest = generationManifest.safeParse(answer);
    if (!manifest.success || manifest.data.id !== id)
      throw new StewardError("backup_failed", "The container answered with no manifest of this copy.");
    return manifest.data;
  }

  async archive(id: string): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#ask(`${CONTROL_ROUTES.generations}/${id}`, {}, TRANSFER_TIMEOUT_MS);
    if (body === null) throw new StewardError("backup_failed", "The container answered without an archive.");
    return body;
  }

  /** Removes a generation that the container no longer has to keep. */
  async discard(id: string): Promise<void> {
    await this.#tell(`${CONTROL_ROUTES.generations}/${id}`, { method: "DELETE" });
  }

  /** Puts a generation into the container. */
  async restore({ manifest, archive, config, hold, drill }: Upload): Promise<RestoreReport> {
    const query = { config, ...(hold && { start: "false" }), ...(drill && { drill: "true" }) };
    return this.#upload({ manifest, archive }, query);
  }

  /** The config file of a generation, with the marks of the container's own. */
  async archivedConfig({ manifest, archive }: Pick<Upload, "manifest" | "archive">): Promise<ConfigText> {
    return this.#upload({ manifest, archive }, { config: "generation", show: "config" });
  }

  /** Puts a generation's config file in the place of the container's own, and starts the gateway with it. */
  async takeConfig({ manifest, archive }: Pick<Upload, "manifest" | "archive">): Promise<ConfigText> {
    const taken = await this.#upload<ConfigText>(
      { manifest, archive },
      { config: "generation", take: "config" },
    );
    await this.#tell(CONTROL_ROUTES.restart, { method: "POST" });
    return taken;
  }

  /** There is nothing to restore: the container begins with an empty data directory. */
  async beginEmpty({ hold }: { hold: boolean }): Promise<void> {
    const query = { config: "fresh", ...(hold && { start: "false" }) };
    await this.#tell(`${CONTROL_ROUTES.restore}?${new URLSearchParams(query)}`, { method: "POST" });
  }

  async configText(): Promise<ConfigText> {
    return this.#json(CONTROL_ROUTES.configFile);
  }

  /** Puts a config in place unchecked and starts the gateway with it, which stops visibly where it is wrong. */
  async startWith(config: string): Promise<void> {
    const { sha256 } = await this.configText();
    const query = new URLSearchParams({ expected: sha256 ?? "none", unchecked: "true" });
    await this.#tell(`${CONTROL_ROUTES.configFile}?${query}`, { method: "PUT", body: config });
    await this.#tell(CONTROL_ROUTES.restart, { method: "POST" });
  }

  async #upload<T>(
    { manifest, archive }: Pick<Upload, "manifest" | "archive">,
    query: Record<string, string>,
  ): Promise<T> {
    const headers = { [MANIFEST_HEADER]: JSON.stringify(manifest) };
    const init = { method: "POST", headers, body: archive, duplex: "half" } as const;
    return this.#json(`${CONTROL_ROUTES.restore}?${new URLSearchParams(query)}`, init, TRANSFER_TIMEOUT_MS);
  }

  async #tell(path: string, init: RequestInit): Promise<void> {
    const response = await this.#ask(path, init);
    await response.body?.cancel();
  }

  async #json<T>(path: string, init: RequestInit = {}, timeoutMs = QUESTION_TIMEOUT_MS): Promise<T> {
    const response = await this.#ask(path, init, timeoutMs);
    return (await response.json()) as T;
  }

  async #ask(path: string, init: RequestInit, timeoutMs = QUESTION_TIMEOUT_MS): Promise<Response> {
    const response = await this.#ports.control(path, init, timeoutMs);
    if (response.ok) return response;
    const document = refusal.safeParse(await response.json().catch(() => undefined));
    if (document.success && isErrorCode(document.data.code))
      throw new StewardError(document.data.code, document.data.detail);
    throw new StewardError("backup_failed", `The container's supervisor answered ${response.status}.`);
  }
}
