import { existsSync, readFileSync, statSync } from "node:fs";
import { type Config, formatConfigProblems } from "../contract/config/index.ts";
import { renderConfig } from "../contract/config/render.ts";
import { readConfigText, secretValues } from "../contract/config/text.ts";
import type { Environment } from "../contract/environment.ts";
import { reason, type Reason, StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { createRedactor, type Redactor } from "../shared/redact.ts";
import { withScheduleChecks } from "../process/config-file.ts";
import { writeFileAtomic } from "../process/files.ts";

const LOOK_EVERY_MS = 1_000;

/** Dependencies of keeping a running gateway's config up to date. */
interface ReloadOptions {
  path: string;
  environment: Environment;
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
  /** Takes a valid config over. */
  onConfig(loaded: Omit<LoadedConfig, "fresh">): void;
}

/**
 * Takes over a config file that has changed. Asked by time, since the file is replaced by renaming, and on
 * a mounted volume no notice of that may come. An invalid file is reported once, and the gateway
 * runs on with what it has.
 */
export class ConfigReload {
  readonly #options: ReloadOptions;
  #seen: string;
  #state: { loadedAt: string; problem?: Reason };
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#seen = stamp(options.path);
    this.#state = { loadedAt: new Date(options.clock()).toISOString() };
  }

  /** Returns when the config in use was taken over, and what is wrong with the file as it is now. */
  get state(): { loadedAt: string; problem?: Reason } {
    return this.#state;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  /** Looks now; with `force` it is read although it has not changed. */
  look({ force = false } = {}): Promise<void> {
    this.#last = this.#last.then(() => this.#look(force));
    return this.#last;
  }

  async #look(force: boolean): Promise<void> {
    const { path, environment, redact, clock, log, onConfig } = this.#options;
    // Before the file is read: a change in between is seen at the next look.
    const now = stamp(path);
    if (now === this.#seen && !force) return;
    this.#seen = now;
    try {
      onConfig(await readConfig(path, environment));
      this.#state = { loadedAt: new Date(clock()).toISOString() };
      log.info("the changed config is taken over", { path });
    } catch (error) {
      const problem = reloadProblem(error, path, redact);
      this.#state = { ...this.#state, problem };
      log.error("the changed config is not taken over, the one before stays in use", { ...problem });
    }
  }
}

function reloadProblem(error: unknown, path: string, redact: Redactor): Reason {
  if (error instanceof StewardError) return reason(error.code, redact(error.message));
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOENT") return reason("config_missing", `There is no config file at ${path}.`);
  return reason("config_invalid", `${path} cannot be taken over (${code}).`);
}

/** Never throws: what cannot be looked at is a state of its own, which reading the file puts into words. */
function stamp(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  } catch (error) {
    return `unreadable ${String(error)}`;
  }
}

/** The gateway's config, with its secrets beside it. */
interface LoadedConfig {
  config: Config;
  /** Values of all secrets that the config names, for the redactor. */
  secrets: string[];
  /** The file was written by this start. */
  fresh: boolean;
}

/**
 * Reads and checks the config file; writes it from the environment where there is none.
 *
 * @throws StewardError `config_invalid` with the whole report as its message.
 */
export async function loadGatewayConfig(path: string, environment: Environment): Promise<LoadedConfig> {
  const fresh = !existsSync(path);
  if (fresh) writeFileAtomic(path, renderConfig(environment));
  return { ...(await readConfig(path, environment)), fresh };
}

/**
 * Reads and checks a config file that is there.
 *
 * @throws StewardError `config_invalid` with the whole report as its message.
 */
async function readConfig(path: string, environment: Environment): Promise<Omit<LoadedConfig, "fresh">> {
  const { result } = await withScheduleChecks(readConfigText(readFileSync(path, "utf8"), environment));
  if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
  return { config: result.config, secrets: secretValues(result.config, environment) };
}

/** Masks the secrets of the config, also those of a config before: they may still be in use, and in texts. */
export class KnownSecrets {
  readonly #environment: Environment;
  readonly #known = new Set<string>();
  #redactor: Redactor;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#redactor = createRedactor(environment);
  }

  /** Removes what is known from a text. A function of its own, to be handed on. */
  readonly redact: Redactor = (text) => this.#redactor(text);

  /** Adds secret values. */
  add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#known.add(secret);
    this.#redactor = createRedactor(this.#environment, [...this.#known]);
  }
}
