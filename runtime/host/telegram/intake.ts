import { readFileSync, statSync } from "node:fs";
import { readConfigText, resolveSecret } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import type { Log } from "../../shared/log.ts";
import { directAddress } from "../../contract/services.ts";
import type { Sql } from "../../edge/ledger/sql.ts";
import type { Clock, Ledger } from "../../edge/ports.ts";
import { TelegramApi } from "../../process/telegram/api.ts";
import { Poller } from "./poller.ts";
import { holderIsGone, IntakeRecord, processHolder } from "./record.ts";
import { WebhookRegistration } from "./webhook.ts";

const LOOK_EVERY_MS = 1_000;

/** Dependencies of the intake. */
interface TelegramIntakeOptions {
  configPath: string;
  environment: Environment;
  /** The ledger's own database. */
  sql: Sql;
  ledger: Pick<Ledger, "admit">;
  clock: Clock;
  log: Log;
}

/** Whatever brings updates in. */
interface Source {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Sees to it that Telegram's updates come in as the config file says: polled for, or delivered to the
 * webhook. The file is looked at every second, as it comes to be, is mended or is changed.
 */
export class TelegramIntake {
  readonly #options: TelegramIntakeOptions;
  readonly #holder = processHolder();
  #timer: NodeJS.Timeout | undefined;
  #seen: string | undefined;
  #mode = JSON.stringify({ kind: "none" });
  #source: Source | undefined;
  #changing = Promise.resolve();
  #stopped = false;

  constructor(options: TelegramIntakeOptions) {
    this.#options = options;
  }

  /** Begins to look. */
  start(): void {
    this.#look();
    if (!this.#stopped) this.#timer = setTimeout(() => this.start(), LOOK_EVERY_MS);
  }

  /** Ends an open request at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#changing;
    await this.#source?.stop();
  }

  #look(): void {
    const { configPath, environment, log } = this.#options;
    try {
      const stats = statSync(configPath, { throwIfNoEntry: false });
      const seen = stats === undefined ? "missing" : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
      if (seen === this.#seen) return;
      const mode = intakeMode(stats && readFileSync(configPath, "utf8"), environment);
      this.#seen = seen;
      const text = JSON.stringify(mode);
      if (text === this.#mode) return;
      this.#mode = text;
      this.#changing = this.#changing
        .then(() => this.#change(mode))
        .catch((error: unknown) => {
          // Looked at again as if the file were new.
          this.#seen = undefined;
          this.#mode = "";
          log.error("the intake of Telegram cannot be started", { error: String(error) });
        });
    } catch (error) {
      log.error("the config file cannot be read", { error: String(error) });
    }
  }

  async #change(mode: IntakeMode): Promise<void> {
    const { log } = this.#options;
    await this.#source?.stop();
    this.#source = undefined;
    if (this.#stopped) return;
    if (mode.kind === "none") log.info("nothing is asked of Telegram", { why: mode.why });
    else this.#source = this.#createSource(mode);
    this.#source?.start();
  }

  #createSource(mode: Exclude<IntakeMode, { kind: "none" }>): Source {
    const { environment, sql, ledger, clock, log } = this.#options;
    const { token, proxy } = mode;
    const apiRoot = directAddress("telegram", environment);
    const api = new TelegramApi({ token, apiRoot, ...(proxy !== undefined && { proxy }) });
    const holder = this.#holder;
    const record = new IntakeRecord({ sql, bot: api.botId, holder, isGone: holderIsGone, clock });
    if (mode.kind === "poll") {
      const admit = (delivery: Parameters<Ledger["admit"]>[0]) => ledger.admit(delivery);
      return new Poller({ api, record, admit, clock, random: Math.random, log });
    }
    const { url, secret } = mode;
    const checkedSecret = environment["TELEGRAM_WEBHOOK_SECRET"];
    return new WebhookRegistration({ api, record, url, secret, checkedSecret, log });
  }
}

/** Intake of Telegram's updates, as the config wants it. */
type IntakeMode =
  /** Not by this process: no channel, a config that cannot be read, or a webhook that somebody else sets. */
  | { kind: "none"; why: string }
  | { kind: "poll"; token: string; proxy?: string }
  | { kind: "webhook"; token: string; proxy?: string; url: string; secret: string };

/** Reads the mode from a config file's text; `undefined` is a file that is not there. */
function intakeMode(text: string | undefined, environment: Environment): IntakeMode {
  if (text === undefined) return { kind: "none", why: "there is no config file" };
  const { result } = readConfigText(text, environment);
  if (!result.ok) return { kind: "none", why: "the config file is not valid" };
  const { telegram } = result.config.channels;
  if (telegram === undefined || !telegram.enabled) return { kind: "none", why: "Telegram is not configured" };
  const { webhookUrl: url, webhookSecret, proxy } = telegram;
  const bot = {
    token: resolveSecret(telegram.botToken, environment),
    ...(proxy !== undefined && { proxy }),
  };
  if (url !== undefined && webhookSecret !== undefined) {
    return { kind: "webhook", ...bot, url, secret: resolveSecret(webhookSecret, environment) };
  }
  // Polling would delete the webhook that somebody has set by hand.
  if (environment["TELEGRAM_WEBHOOK_SECRET"]) return { kind: "none", why: "TELEGRAM_WEBHOOK_SECRET is set" };
  return { kind: "poll", ...bot };
}
