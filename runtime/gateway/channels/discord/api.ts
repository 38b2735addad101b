import { retryAfterMs } from "../../../shared/retry-after.ts";
import { parseJson } from "../../../shared/json.ts";
import * as z from "zod/mini";
import type { Environment } from "../../../contract/environment.ts";
import {
  operationRequest,
  type OperationArguments,
  type OperationName,
  type ServiceRequest,
} from "../../../contract/service-operations.ts";
import { directAddress, SERVICES } from "../../../contract/services.ts";

/** Timeout per request, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Large files take longer on slow connections. */
const FILE_TIMEOUT_MS = 120_000;

/** https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit-rate-limit-response-structure */
const failureSchema = z.object({
  code: z.optional(z.number()),
  message: z.optional(z.string()),
  retry_after: z.optional(z.number().check(z.nonnegative())),
});

/** Schema of a refusal by the broker. Its code is a string; Discord's codes are numbers. */
const brokerProblem = z.object({ code: z.string() });

export class DiscordError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes */
  readonly code: number;
  readonly retryAfterMs: number | undefined;
  /** Code of a refusal by the broker. */
  readonly brokerCode: string | undefined;

  constructor(
    message: string,
    failure: { status: number; code?: number; retryAfterMs?: number | undefined; brokerCode?: string },
  ) {
    super(message);
    this.name = "DiscordError";
    this.status = failure.status;
    this.code = failure.code ?? 0;
    this.retryAfterMs = failure.retryAfterMs;
    this.brokerCode = failure.brokerCode;
  }
}

export interface DiscordApiOptions {
  botToken: string;
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Request as the bot, or response to an interaction, which needs no bot token. */
export type DiscordRequest =
  | {
      operation: Extract<OperationName, `discord/${string}`>;
      values?: OperationArguments;
      body?: object;
      file?: File;
    }
  | TicketRequest;

export interface TicketRequest {
  method: "POST" | "PATCH" | "DELETE";
  path: string;
  body?: object;
  /** Sent together with the body: https://docs.discord.com/developers/reference#uploading-files */
  file?: File;
}

/** Creates a client of Discord's HTTP API. Its errors contain no token. */
export function createDiscordApi({ botToken: key, environment, clock }: DiscordApiOptions) {
  const { headers } = SERVICES.discord;
  const readRequest = (
    request: DiscordRequest,
  ): Pick<ServiceRequest, "url" | "headers"> & { method: string } =>
    "operation" in request
      ? operationRequest(request.operation, request.values ?? {}, { key, environment })
      : { method: request.method, url: `${directAddress("discord", environment)}${request.path}`, headers };
  return async (request: DiscordRequest): Promise<unknown> => {
    const { url, ...asked } = readRequest(request);
    const { body, file } = request;
    const isJson = body !== undefined && file === undefined;
    const init = {
      method: asked.method,
      headers: { ...asked.headers, ...(isJson && { "content-type": "application/json" }) },
      signal: AbortSignal.timeout(file === undefined ? TIMEOUT_MS : FILE_TIMEOUT_MS),
      ...(body !== undefined && { body: file === undefined ? JSON.stringify(body) : inParts(body, file) }),
    };
    const answered = await exchange(url, init);
    if (answered === undefined) throw new DiscordError("no answer", { status: 0 });
    const { response, value } = answered;
    if (response.ok) return value;
    const { code, message, retry_after: seconds } = failureSchema.safeParse(value).data ?? {};
    const brokerCode = brokerProblem.safeParse(value).data?.code;
    const wait =
      seconds === undefined
        ? retryAfterMs(response.headers.get("retry-after"), clock())
        : Math.ceil(seconds * 1_000);
    throw new DiscordError(`HTTP ${response.status}${message === undefined ? "" : `, ${message}`}`, {
      status: response.status,
      retryAfterMs: wait,
      ...(code !== undefined && { code }),
      ...(brokerCode !== undefined && { brokerCode }),
    });
  };
}

function inParts(body: object, file: File): FormData {
  const form = new FormData();
  form.set("payload_json", JSON.stringify(body));
  form.set("files[0]", file);
  return form;
}

/** Returns `undefined` if the connection failed. */
async function exchange(url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    return { response, value: parseJson(text) };
  } catch {
    return undefined;
  }
}
