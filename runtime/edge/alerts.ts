import { parseJson } from "../shared/json.ts";
import type { AlertSettings } from "../contract/alerts.ts";
import { parseDuration } from "../contract/duration.ts";
import type { GatewayStatus } from "../contract/control.ts";
import { ERRORS, fixOf, isErrorCode, type ErrorCode } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { hmacHex } from "../contract/digest.ts";
import { gatewayDetails } from "./debug-routes.ts";
import { commandTimeout } from "./operate.ts";
import type { Backups, Clock, Sandbox } from "./ports.ts";

/** Webhook signature: `t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>" in hexadecimal>`. */
const SIGNATURE_HEADER = "x-steward-signature";

/** Interval between checks, in milliseconds. Each check sends at most one message. */
export const LOOK_EVERY_MS = 60_000;
/** Interval at which a continuing failure is reported again, in milliseconds. */
const REPEAT_MS = 6 * 3_600_000;
/** Milliseconds for which the alert `first words` stays active after a late answer. */
const LATE_FOR_MS = 15 * 60_000;
const TIMEOUT_MS = 10_000;

/** One alert: a failure, a recovery or a test. Contains no text that a person wrote. */
interface Alert {
  state: "failing" | "recovered" | "test";
  /**
   * The failing part: `gateway`, `volume`, `models`, `first words`, `channel <platform>`, `limits`, `backups` or
   * `events`.
   */
  subject: string;
  code?: ErrorCode;
  title: string;
  fix?: string;
  /** ISO 8601 */
  since: string;
}

export interface AlertSender {
  settings: AlertSettings;
  fetch: typeof globalThis.fetch;
  /** Sends an e-mail. Rejects if the mail service does not accept it. Absent if the deployment cannot send e-mail. */
  sendEmail?: ((email: Email) => Promise<unknown>) | undefined;
  clock: Clock;
}

interface Email {
  from: string;
  to: string;
  subject: string;
  text: string;
}

/**
 * Sends alerts to one destination. Resolves to `undefined` on success, otherwise to an error text without the
 * destination's address.
 */
type Transport = (sender: AlertSender, alerts: readonly Alert[]) => Promise<string | undefined>;

const TRANSPORTS: Readonly<Record<"webhook" | "slack" | "email", Transport>> = {
  async webhook(sender, alerts) {
    const { name, webhook = "", signingKey = "" } = sender.settings;
    const seconds = Math.floor(sender.clock() / 1_000);
    const body = JSON.stringify({ name, at: new Date(seconds * 1_000).toISOString(), alerts });
    const signature = `t=${seconds},v1=${await hmacHex(signingKey, `${seconds}.${body}`)}`;
    return post(sender, webhook, body, { [SIGNATURE_HEADER]: signature });
  },
  slack(sender, alerts) {
    const { name, slack = "" } = sender.settings;
    return post(sender, slack, JSON.stringify({ text: slackText(name, alerts) }));
  },
  async email({ settings: { name, email }, sendEmail }, alerts) {
    if (email === undefined || sendEmail === undefined) return "this deployment cannot send e-mail";
    const subject = `${name}: ${alerts.map(subjectLine).join(", ")}`;
    try {
      await commandTimeout(TIMEOUT_MS, sendEmail({ ...email, subject, text: emailText(alerts) }));
      return undefined;
    } catch {
      // The original error may contain an address, so return a fixed text.
      return "Cloudflare refused the message: `from` needs a domain with Email Routing, `to` a verified address";
    }
  },
};
const DESTINATIONS = Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[];

function destinationsOf(settings: AlertSettings): (keyof typeof TRANSPORTS)[] {
  return DESTINATIONS.filter((destination) => settings[destination] !== undefined);
}

async function sendAlerts(sender: AlertSender, alerts: readonly Alert[]): Promise<string[]> {
  const results = await Promise.all(
    destinationsOf(sender.settings).map(async (destination) => {
      const problem = await TRANSPORTS[destination](sender, alerts);
      return problem === undefined ? [] : [`${destination}: ${problem}`];
    }),
  );
  return results.flat();
}

/** Sends a test message to every destination. Returns one error text for each destination that failed. */
export function tryAlerts(sender: AlertSender): Promise<string[]> {
  const since = new Date(sender.clock()).toISOString();
  return sendAlerts(sender, [
    { state: "test", subject: "alerts", title: "Alerts of this deployment arrive here", since },
  ]);
}

async function post(
  { fetch }: AlertSender,
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `answered with ${response.status}`;
  } catch {
    // The original error may contain the address, which is a secret, so return a fixed text.
    return "did not answer";
  }
}

function subjectLine({ state, subject }: Alert): string {
  return state === "test"
    ? "a test of alerts"
    : `${subject} ${state === "failing" ? "fails" : "has recovered"}`;
}

function emailText(alerts: readonly Alert[]): string {
  const blocks = alerts.map(({ state, subject, title, fix, since }) => {
    if (state === "test") return `${title}.`;
    if (state === "recovered") return `${subject} has recovered.`;
    return `${subject} has been failing since ${since}: ${title}.${fix === undefined ? "" : `\n${fix}`}`;
  });
  return `${blocks.join("\n\n")}\n`;
}

function slackText(name: string, alerts: readonly Alert[]): string {
  const lines = alerts.map(({ state, subject, title, fix }) => {
    if (state === "test") return title;
    return state === "recovered"
      ? `:large_green_circle: ${subject}: recovered`
      : `:red_circle: ${subject}: ${title}. ${fix ?? ""}`;
  });
  const text = [`*${name}*`, ...lines].join("\n");
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export interface AlertsOptions extends AlertSender {
  sandbox: Pick<Sandbox, "status" | "peek">;
  /** True if the gateway should always run. Alerts then report a stopped gateway as a failure. */
  neverSleeps: boolean;
  backups: Pick<Backups, "status">;
  /** Returns the arrival time of the oldest unanswered event, in milliseconds since the epoch. */
  oldestEvent(): number | undefined;
  memory: { read(): string | undefined; write(text: string): void };
  log: Log;
}

interface Failing {
  code: ErrorCode;
  since: number;
  toldAt?: number;
}

/**
 * Sends alerts to the configured destinations: once a failure has lasted for the configured time (`after`), then
 * every six hours while it continues, and when it ends.
 */
export class Alerts {
  readonly #options: AlertsOptions;
  readonly #afterMs: number;
  #looking = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#afterMs = parseDuration(options.settings.after) ?? 0;
  }

  /** True if a current failure could be resolved while the container sleeps, so checks must continue. */
  get isOpen(): boolean {
    return Object.keys(this.#read()).some((subject) => !isGatewayOnly(subject));
  }

  /** Looks for failures, at most every 30 s, and sends the alerts that are due. Never rejects. */
  async look(): Promise<void> {
    const now = this.#options.clock();
    // Skip this check if the previous check is still waiting for a slow destination or began less than half an
    // interval ago.
    if (this.#looking || Math.abs(now - this.#lookedAt) < LOOK_EVERY_MS / 2) return;
    this.#looking = true;
    this.#lookedAt = now;
    try {
      await this.#look();
    } catch (error) {
      this.#options.log.error("the checks for alerts failed", { error: String(error) });
    } finally {
      this.#looking = false;
    }
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options;
    const now = clock();
    const before = this.#read();
    const found = await this.#find(before, now);
    const due = Object.entries(found).filter(
      ([, { since, toldAt }]) =>
        now - since >= this.#afterMs && (toldAt === undefined || now - toldAt >= REPEAT_MS),
    );
    const over = Object.entries(before).filter(
      ([subject, { toldAt }]) => found[subject] === undefined && toldAt !== undefined,
    );
    const alerts = [
      ...due.map(([subject, failing]) => alertOf("failing", subject, failing)),
      ...over.map(([subject, failing]) => alertOf("recovered", subject, failing)),
    ];
    if (alerts.length > 0) {
      const problems = await sendAlerts(this.#options, alerts);
      for (const problem of problems) log.error("an alert could not be delivered", { problem });
      if (problems.length < destinationsOf(this.#options.settings).length) {
        for (const [subject, failing] of due) found[subject] = { ...failing, toldAt: now };
      } else {
        // No destination accepted the alerts. Keep the ended failures, so that the next check reports their end.
        for (const [subject, failing] of over) found[subject] ??= failing;
      }
    }
    const text = JSON.stringify(found);
    if (text !== JSON.stringify(before)) this.#options.memory.write(text);
  }

  /** Returns the current failures. While the gateway is down, keeps the failures that only the gateway can report. */
  async #find(before: Record<string, Failing>, now: number): Promise<Record<string, Failing>> {
    const { sandbox, neverSleeps, backups, oldestEvent } = this.#options;
    const [{ state, reason, volume, silent }, details, copies] = await Promise.all([
      sandbox.status(),
      // Treat a malformed response like a missing one.
      gatewayDetails(sandbox).catch(() => undefined),
      backups.status(),
    ]);
    const found: Record<string, Failing> = {};
    const fails = (subject: string, code: ErrorCode, since = now): void => {
      const known = before[subject];
      found[subject] = known === undefined ? { code, since } : { ...known, code };
    };
    if (silent !== undefined || (state !== "ready" && (neverSleeps || state !== "stopped")))
      fails("gateway", (silent ?? reason)?.code ?? "gateway_not_ready");
    if (volume !== undefined) fails("volume", volume.code);
    if (copies.problem !== undefined) fails("backups", copies.problem.code);
    const oldest = oldestEvent();
    if (oldest !== undefined && now - oldest >= this.#afterMs) fails("events", "events_waiting", oldest);
    if (details === undefined) {
      for (const [subject, failing] of Object.entries(before)) {
        if (isGatewayOnly(subject)) found[subject] = failing;
      }
      return found;
    }
    // An older container may omit some of these fields.
    const { models = [], channels = [], limited = 0, firstWords }: Partial<GatewayStatus> = details;
    const lateAt = Date.parse(firstWords?.lateAt ?? "");
    if (now - lateAt < LATE_FOR_MS) fails("first words", "first_word_late", lateAt);
    if (limited > 0) fails("limits", "token_limit_reached");
    const [first, ...others] = models;
    if (first?.reason !== undefined && [first, ...others].every((model) => model.reason !== undefined)) {
      fails("models", first.reason.code);
    }
    for (const { platform, reason: why } of channels) {
      if (why !== undefined) fails(`channel ${platform}`, why.code);
    }
    return found;
  }

  #read(): Record<string, Failing> {
    const value = parseJson(this.#options.memory.read() ?? "{}");
    // The text needs no validation, because only this class writes it.
    return typeof value === "object" && value !== null ? (value as Record<string, Failing>) : {};
  }
}

function isGatewayOnly(subject: string): boolean {
  return ["models", "limits", "first words"].includes(subject) || subject.startsWith("channel ");
}

/** Builds an alert without the reason's detail, which may quote a provider or a person. */
function alertOf(state: "failing" | "recovered", subject: string, { code, since }: Failing): Alert {
  const known = isErrorCode(code) ? code : "internal";
  return {
    state,
    subject,
    code,
    title: ERRORS[known].title,
    fix: fixOf(known),
    since: new Date(since).toISOString(),
  };
}
