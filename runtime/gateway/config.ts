import { existsSync, readFileSync } from "node:fs";
import { type Config, formatConfigProblems } from "../contract/config/index.ts";
import { renderConfig } from "../contract/config/render.ts";
import { readConfigText, secretValues } from "../contract/config/text.ts";
import type { Environment } from "../contract/environment.ts";
import { reason, type Reason, StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { createRedactor, type Redactor } from "../shared/redact.ts";
import { withScheduleChecks } from "../process/config-file.ts";
import { fileVersion, writeFileAtomic } from "../process/files.ts";

const LOOK_EVERY_MS = 1_000;

interface ReloadOptions {
  path: string;
  /** Version of the file that the gateway started with. */
  version: string;
  environment: Environment;
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
  onConfig(loaded: ReadConfig): void;
}

/**
 * Reloads the config file after each change. Polls, because file events are unreliable on mounted volumes. Reports an
 * invalid file once and keeps the previous config.
 */
export class ConfigReload {
  readonly #options: ReloadOptions;
  #seen: string;
  #state: { loadedAt: string; problem?: Reason };
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#seen = options.version;
    this.#state = { loadedAt: new Date(options.clock()).toISOString() };
  }

  /** Time at which the current config was loaded, and the problem with the file if a later reload failed. */
  get state(): { loadedAt: string; problem?: Reason } {
    return this.#state;
  }

  start(): void {
    this.#timer = setInterval(() => void this.reload(), LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  /** Applies the config file if it has changed; with `force`, always. */
  reload({ force = false } = {}): Promise<void> {
    this.#last = this.#last.then(() => this.#reload(force));
    return this.#last;
  }

  async #reload(force: boolean): Promise<void> {
    const { path, environment, redact, clock, log, onConfig } = this.#options;
    const now = fileVersion(path);
    if (now === this.#seen && !force) return;
    this.#seen = now;
    try {
      onConfig(await readConfig(path, environment));
      this.#state = { loadedAt: new Date(clock()).toISOString() };
      log.info("changed config applied", { path });
    } catch (error) {
      const problem = reloadProblem(error, path, redact);
      this.#state = { ...this.#state, problem };
      log.error("changed config rejected, the previous one stays in use", { ...problem });
    }
  }
}

function reloadProblem(error: unknown, path: string, redact: Redactor): Reason {
  if (error instanceof StewardError) return reason(error.code, redact(error.message));
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOENT") return reason("config_missing", `There is no config file at ${path}.`);
  return reason("config_invalid", `${path} cannot be read (${code}).`);
}

interface ReadConfig {
  config: Config;
  /** Values of the config's secrets, for the redactor. */
  secrets: string[];
}

interface LoadedConfig extends ReadConfig {
  /** True if this start created the file. */
  fresh: boolean;
  /** Version of the file before it was read, for {@link ConfigReload}. */
  version: string;
}

/**
 * Reads the config file. Creates a missing file from the environment.
 *
 * @throws StewardError `config_invalid` with all problems.
 */
export async function loadGatewayConfig(path: string, environment: Environment): Promise<LoadedConfig> {
  const fresh = !existsSync(path);
  if (fresh) writeFileAtomic(path, renderConfig(environment));
  const version = fileVersion(path);
  return { ...(await readConfig(path, environment)), fresh, version };
}

/** @throws StewardError `config_invalid` with all problems. */
async function readConfig(path: string, environment: Environment): Promise<ReadConfig> {
  const { result } = await withScheduleChecks(readConfigText(readFileSync(path, "utf8"), environment));
  if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
  return { config: result.config, secrets: secretValues(result.config, environment) };
}

/** Masks secrets of the current and previous configs, because output may still contain old secrets. */
export class KnownSecrets {
  readonly #environment: Environment;
  readonly #known = new Set<string>();
  #redactor: Redactor;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#redactor = createRedactor(environment);
  }

  /** Masks secrets. As an arrow function, it can be passed without the instance. */
  readonly redact: Redactor = (text) => this.#redactor(text);

  add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#known.add(secret);
    this.#redactor = createRedactor(this.#environment, [...this.#known]);
  }
}
