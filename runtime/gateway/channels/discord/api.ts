import { retryAfterMs } from "../../../shared/retry-after.ts";
import { parseJson } from "../../../shared/json.ts";
import * as z from "zod/mini";
import { VERSION } from "../../../contract/names.ts";

/** Discord refuses requests without it: https://docs.discord.com/developers/reference#user-agent */
const USER_AGENT = `DiscordBot (steward, ${VERSION})`;
/** Discord answers within a second or two; a hung connection must not hold the conversation for ever. */
const TIMEOUT_MS = 30_000;

/** https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit-rate-limit-response-structure */
const failureSchema = z.object({
  code: z.optional(z.number()),
  message: z.optional(z.string()),
  retry_after: z.optional(z.number().check(z.nonnegative())),
});

/** A request that Discord did not take. */
export class DiscordError extends Error {
  /** The HTTP status, 0 where there was no answer. */
  readonly status: number;
  /** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes */
  readonly code: number;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    failure: { status: number; code?: number; retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.name = "DiscordError";
    this.status = failure.status;
    this.code = failure.code ?? 0;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** Connection settings of Discord. */
export interface DiscordApiOptions {
  botToken: string;
  /** Place where the bot token is taken. */
  apiUrl: string;
  /** Place where an interaction's token is taken. */
  interactionsUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** One request. */
export interface DiscordRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** With the bot token. Answers to an interaction go by the token in their path alone. */
  asBot: boolean;
  body?: object;
}

/** A client of Discord's HTTP API. It throws DiscordError; neither token gets into its message. */
export function createDiscordApi({ botToken, apiUrl, interactionsUrl, clock }: DiscordApiOptions) {
  return async ({ method, path, asBot, body }: DiscordRequest): Promise<unknown> => {
    const headers = {
      "user-agent": USER_AGENT,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(asBot && { authorization: `Bot ${botToken}` }),
    };
    const init = {
      method,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const answered = await exchange(`${asBot ? apiUrl : interactionsUrl}${path}`, init);
    if (answered === undefined) throw new DiscordError("no answer", { status: 0 });
    const { response, value } = answered;
    if (response.ok) return value;
    const { code, message, retry_after: seconds } = failureSchema.safeParse(value).data ?? {};
    const wait =
      seconds === undefined
        ? retryAfterMs(response.headers.get("retry-after"), clock())
        : Math.ceil(seconds * 1_000);
    throw new DiscordError(`HTTP ${response.status}${message === undefined ? "" : `, ${message}`}`, {
      status: response.status,
      retryAfterMs: wait,
      ...(code !== undefined && { code }),
    });
  };
}

/** The answer and its JSON, `undefined` where the connection gave none. */
async function exchange(url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    return { response, value: parseJson(text) };
  } catch {
    return undefined;
  }
}
