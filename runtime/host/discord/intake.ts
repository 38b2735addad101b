import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod/mini";
import { resolveSecret } from "../../contract/config/text.ts";
import { credential, directAddress, SERVICES } from "../../contract/services.ts";
import { parseJson } from "../../shared/json.ts";
import { retryAfterMs } from "../../shared/retry-after.ts";
import type { Clock } from "../../edge/ports.ts";
import { holderIsGone, processHolder } from "../intake/lease.ts";
import { type IntakeOptions, IntakeWatch } from "../intake/watch.ts";
import type { Socket } from "./connection.ts";
import { type Address, GatewayListener } from "./listener.ts";
import { gatewayUrl, intentsFor, type Unmentioned } from "./protocol.ts";
import { SessionRecord } from "./record.ts";

const ASK_MS = 30_000;
/**
 * Daily session starts kept in reserve, because Discord resets the token of a bot that exceeds the limit:
 * https://docs.discord.com/developers/events/gateway#identifying
 */
const RESERVED_SESSIONS = 10;
const RESPOND_MS = 3_000;
const HANDSHAKE_MS = 30_000;
/** Largest event, in bytes: READY lists all of the bot's servers. */
const LARGEST_EVENT = 16 * 1024 * 1024;

/** https://docs.discord.com/developers/events/gateway#get-gateway-bot */
const gatewaySchema = z.object({
  url: z.string(),
  session_start_limit: z.object({
    remaining: z.number(),
    /** Milliseconds. */
    reset_after: z.number().check(z.nonnegative()),
  }),
});

interface Mode {
  kind: "connection";
  token: string;
  unmentioned: Unmentioned;
}

export function discordIntake(options: IntakeOptions): IntakeWatch<"discord", Mode> {
  const { configPath, environment, log } = options;
  const holder = processHolder();
  return new IntakeWatch({
    platform: "discord",
    configPath,
    environment,
    read: ({ token, guilds }): Mode => ({
      kind: "connection",
      token: resolveSecret(token, environment),
      unmentioned: Object.fromEntries(
        Object.entries(guilds).map(([id, { enabled, requireMention }]) => [id, enabled && !requireMention]),
      ),
    }),
    create: (mode) => createListener(mode, holder, options),
    log,
  });
}

function createListener(
  { token, unmentioned }: Mode,
  holder: string,
  { environment, sql, ledger, clock, log }: IntakeOptions,
): GatewayListener {
  const intents = intentsFor(unmentioned);
  // A session keeps the intents it began with, so each set of intents has its own record.
  const bot = `${createHash("sha256").update(token).digest("hex").slice(0, 16)}:${intents}`;
  const apiUrl = directAddress("discord", environment);
  const check = (url: string): string | undefined => gatewayUrl(url, apiUrl, SERVICES.discord.own);
  return new GatewayListener({
    token,
    intents,
    unmentioned,
    record: new SessionRecord({ sql, bot, holder, isGone: holderIsGone, clock }),
    address: (begins, signal) => askAddress({ token, apiUrl, check, clock }, begins, signal),
    check,
    open,
    admit: (delivery) => ledger.admit(delivery),
    respond: (interaction, response) => {
      respond(interaction, response, apiUrl).catch((error: unknown) =>
        log.warn("an interaction could not be answered", { platform: "discord", error: String(error) }),
      );
    },
    sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    clock,
    random: Math.random,
    log,
  });
}

async function open(url: string): Promise<Socket> {
  const { WebSocket } = await import("../ws.ts");
  const { headers } = SERVICES.discord;
  return new WebSocket(url, {
    headers,
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: LARGEST_EVENT,
    perMessageDeflate: false,
  });
}

/** https://docs.discord.com/developers/interactions/receiving-and-responding#create-interaction-response */
const interactionSchema = z.object({ id: z.string(), token: z.string() });

/**
 * Sends the first response to an interaction, within the 3 s that Discord allows. The interaction's token in the URL
 * authorizes the request.
 */
async function respond(interaction: unknown, response: object, apiUrl: string): Promise<void> {
  const { id, token } = interactionSchema.parse(interaction);
  const path = ["interactions", id, token, "callback"].map(encodeURIComponent).join("/");
  const { ok, status, body } = await fetch(`${apiUrl}/${path}`, {
    method: "POST",
    headers: { ...SERVICES.discord.headers, "content-type": "application/json" },
    body: JSON.stringify(response),
    redirect: "error",
    signal: AbortSignal.timeout(RESPOND_MS),
  });
  await body?.cancel();
  if (!ok) throw new Error(`HTTP ${status}`);
}

interface AskOptions {
  token: string;
  apiUrl: string;
  check(url: string): string | undefined;
  clock: Clock;
}

/**
 * Asks Discord for its gateway's address.
 *
 * @param begins True if the caller will start a new session. In that case, rejects if the daily limit on new sessions
 * is nearly reached.
 */
async function askAddress(
  { token, apiUrl, check, clock }: AskOptions,
  begins: boolean,
  stop: AbortSignal,
): Promise<Address> {
  const failed = (detail: string, afterMs = 0): Address => ({
    next: "resume",
    code: "discord_unreachable",
    detail,
    afterMs,
  });
  const response = await fetch(`${apiUrl}/gateway/bot`, {
    headers: { ...SERVICES.discord.headers, ...credential("discord", token) },
    redirect: "error",
    signal: AbortSignal.any([stop, AbortSignal.timeout(ASK_MS)]),
  }).catch((error: unknown) => String(error));
  if (typeof response === "string") return failed(`Discord did not answer: ${response}.`);
  const text = await response.text().catch(() => "");
  if (response.status === 401)
    return { next: "stop", code: "discord_token_invalid", detail: "Discord refuses the bot token (401)." };
  if (!response.ok) {
    const afterMs = retryAfterMs(response.headers.get("retry-after"), clock());
    return failed(`Discord answered ${response.status}.`, afterMs);
  }
  const { data } = gatewaySchema.safeParse(parseJson(text));
  if (data === undefined) return failed("Discord's response contains no gateway address.");
  const { remaining, reset_after: afterMs } = data.session_start_limit;
  if (begins && remaining <= RESERVED_SESSIONS) {
    const detail = `No new session is allowed for ${Math.ceil(afterMs / 60_000)} minutes.`;
    return { next: "resume", code: "discord_session_limit", detail, afterMs };
  }
  const url = check(data.url);
  return url === undefined
    ? failed("Discord's response contains a gateway address outside Discord.")
    : { url };
}
