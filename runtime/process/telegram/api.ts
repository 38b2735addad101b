import { PROBLEM_TYPE } from "../../contract/problem.ts";
import { isTelegramFilePath } from "../../contract/service-operations.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import * as z from "zod/mini";
import type { TelegramConnection } from "./transport.ts";

const TIMEOUT_MS = 30_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;
/** Maximum response size in bytes. A hundred updates of maximum size need far less. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** https://core.telegram.org/bots/api#making-requests */
const answerSchema = z.object({
  ok: z.boolean(),
  result: z.optional(z.unknown()),
  error_code: z.optional(z.int()),
  description: z.optional(z.string()),
  /** https://core.telegram.org/bots/api#responseparameters */
  parameters: z.optional(
    z.object({ retry_after: z.optional(z.number()), migrate_to_chat_id: z.optional(z.number()) }),
  ),
});
type Answer = z.infer<typeof answerSchema>;

const fileSchema = z.object({ file_path: z.optional(z.string().check(z.minLength(1))) });

export interface TelegramApiOptions {
  token: string;
  /** Without a trailing slash. */
  apiRoot: string;
  proxy?: string;
  /** Headers for the broker. If set, URLs have the broker's format. */
  brokerHeaders?: Record<string, string>;
}

export interface CallOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /** File to upload in the form field `field`: https://core.telegram.org/bots/api#sending-files */
  file?: { field: "photo" | "document"; name: string; content: Blob };
}

/** Failure of a Telegram call. No part of the error contains the token. */
export class TelegramError extends Error {
  /** The response's `error_code`; 0 if there was no response. */
  readonly status: number;
  /** Wait that Telegram asks for. */
  readonly retryAfterMs: number | undefined;
  /** New id of the group if it was migrated to a supergroup. */
  readonly migratedTo: string | undefined;
  /** Error code if the broker itself refused the call; `status` is then 0. */
  readonly brokerCode: string | undefined;

  constructor(
    status: number,
    description: string,
    parameters: Answer["parameters"] = {},
    brokerCode?: string,
  ) {
    super(description);
    this.name = "TelegramError";
    this.status = status;
    this.retryAfterMs = parameters.retry_after === undefined ? undefined : parameters.retry_after * 1_000;
    const { migrate_to_chat_id: migrated } = parameters;
    this.migratedTo = migrated === undefined ? undefined : String(migrated);
    this.brokerCode = brokerCode;
  }

  /** True if Telegram refuses the token: 401 if revoked, 404 if malformed. */
  get tokenRefused(): boolean {
    return this.status === 401 || this.status === 404;
  }
}

/** Client for one bot: https://core.telegram.org/bots/api */
export class TelegramApi {
  /** The bot's user id: the number before the token's colon. */
  readonly botId: string;
  readonly #method: (name: string) => string;
  readonly #file: (path: string) => string;
  readonly #proxy: string | undefined;
  readonly #headers: Record<string, string>;
  #connection: Promise<TelegramConnection> | undefined;

  constructor({ token, apiRoot, proxy, brokerHeaders }: TelegramApiOptions) {
    const safe = token.replace(/[^\w:-]/g, encodeURIComponent);
    this.botId = token.split(":", 1)[0] ?? "";
    this.#method = (name) => (brokerHeaders ? `${apiRoot}/${name}` : `${apiRoot}/bot${safe}/${name}`);
    this.#file = (path) =>
      brokerHeaders
        ? `${apiRoot}/file?${new URLSearchParams({ path }).toString()}`
        : `${apiRoot}/file/bot${safe}/${path.split("/").map(encodeURIComponent).join("/")}`;
    this.#proxy = proxy;
    this.#headers = brokerHeaders ?? {};
  }

  async call(method: string, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    const signal = bounded(options.signal, options.timeoutMs ?? TIMEOUT_MS);
    const { status, bytes } = await withSafeErrors(async () => {
      const { body, type } = await encode(parameters, options.file);
      const { send, readBody } = await this.#connect();
      const response = await send(this.#method(method), {
        method: "POST",
        body,
        headers: { ...this.#headers, "content-type": type },
        signal,
      });
      const { statusCode = 0, headers } = response;
      // Use 0 if the broker itself refused the call: its status says nothing about the chat.
      const status = headers["content-type"]?.startsWith(PROBLEM_TYPE) === true ? 0 : statusCode;
      return { status, bytes: await readBody(response, MAX_ANSWER_BYTES) };
    });
    const answer = status === 0 ? undefined : readAnswer(bytes);
    if (answer?.ok === true) return answer.result;
    if (status === 0) {
      const problem = problemCode(bytes);
      throw new TelegramError(0, `no answer (${problem})`, {}, problem);
    }
    const code = answer?.error_code ?? status;
    throw new TelegramError(code, answer?.description ?? `HTTP ${status}`, answer?.parameters);
  }

  /**
   * Downloads a message's file: https://core.telegram.org/bots/api#getfile
   *
   * @throws TelegramError if the download fails; RangeError if the file exceeds `maxBytes`.
   */
  async download(fileId: string, maxBytes: number, outer: AbortSignal): Promise<Uint8Array> {
    const file = fileSchema.safeParse(await this.call("getFile", { file_id: fileId }, { signal: outer }));
    const path = file.data?.file_path;
    if (path === undefined) throw new TelegramError(0, "the file has no address");
    if (!isTelegramFilePath(path))
      throw new TelegramError(400, "the file's address is not of the known form");
    const signal = bounded(outer, DOWNLOAD_TIMEOUT_MS);
    return withSafeErrors(async () => {
      const { send, readBody } = await this.#connect();
      const response = await send(this.#file(path), { method: "GET", headers: this.#headers, signal });
      const status = response.statusCode ?? 0;
      if (status !== 200) {
        response.destroy();
        // For a file, 404 means that it is missing, not that the token is invalid.
        throw new TelegramError(status < 500 ? 400 : status, `HTTP ${status} for the file`);
      }
      return readBody(response, maxBytes);
    });
  }

  /** Loads the transport on first use, to keep startup fast and memory use low. */
  #connect(): Promise<TelegramConnection> {
    this.#connection ??= import("./transport.ts").then(({ openConnection }) => openConnection(this.#proxy));
    return this.#connection;
  }
}

async function encode(
  parameters: object,
  file: CallOptions["file"],
): Promise<{ body: string | Uint8Array; type: string }> {
  if (file === undefined) return { body: JSON.stringify(parameters), type: "application/json" };
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) form.set(name, String(value));
  form.set(file.field, file.content, file.name);
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "";
  return { body: new Uint8Array(await encoded.arrayBuffer()), type };
}

function problemCode(bytes: Uint8Array): string {
  const document = parseJson(Buffer.from(bytes).toString("utf8"));
  return isRecord(document) && typeof document["code"] === "string" ? document["code"] : "unknown";
}

function bounded(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** Converts connection failures to TelegramError without their message, which may contain the token. */
async function withSafeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TelegramError || error instanceof RangeError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new TelegramError(
      0,
      code === "ABORT_ERR" ? "no answer in time" : `no answer (${code || "unknown"})`,
    );
  }
}

function readAnswer(bytes: Uint8Array): Answer | undefined {
  return answerSchema.safeParse(parseJson(Buffer.from(bytes).toString("utf8"))).data;
}
