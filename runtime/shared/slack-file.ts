import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import { directRequest } from "../contract/service-operations.ts";
import { directAddress } from "../contract/services.ts";
import type { Environment } from "../contract/variables.ts";
import { isRecord, parseJson } from "./json.ts";
import { readBytes } from "./read-bytes.ts";

/** Slack's file host: https://docs.slack.dev/reference/objects/file-object#authentication */
const FILES_ORIGIN = "https://files.slack.com";
/** Size limit of a `files.info` response, which may contain a text file's whole content. */
const LONGEST_INFO_BYTES = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;

/** https://docs.slack.dev/reference/methods/files.info */
const infoSchema = z.object({
  ok: z.boolean(),
  error: z.optional(z.string()),
  file: z.optional(
    z.object({
      id: z.string(),
      url_private: z.optional(z.string()),
      url_private_download: z.optional(z.string()),
      channels: z.optional(z.unknown()),
      groups: z.optional(z.unknown()),
      ims: z.optional(z.unknown()),
      shares: z.optional(z.unknown()),
    }),
  ),
});

export interface SlackFileOptions {
  /** The bot token. */
  key: string;
  environment: Environment;
  fetch(url: string, init: RequestInit): Promise<Response>;
  signal: AbortSignal;
  /** Chat that the file must be shared with. Default: any. */
  chat?: string;
}

/**
 * Opens a Slack file. Downloads only from this file's URLs on Slack's file host, even after redirects, to protect the
 * bot token.
 *
 * @throws StewardError if the file is unavailable or not shared with `chat`. Passes on errors of `fetch`.
 */
export async function openSlackFile(id: string, options: SlackFileOptions): Promise<Response> {
  const { key, environment, fetch, signal, chat } = options;
  const { url: infoUrl, headers } = directRequest("slack/file", {}, { key, environment });
  const told = await fetch(infoUrl, {
    method: "POST",
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ file: id }).toString(),
    redirect: "manual",
    signal,
  });
  let url = addressOf(await readInfo(told), id, chat);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (!isPlaceOf(id, url, environment)) throw new StewardError("slack_file_elsewhere");
    const answer = await fetch(url.href, { method: "GET", headers, redirect: "manual", signal });
    const location = answer.headers.get("location");
    if (answer.status < 300) return answer;
    await answer.body?.cancel();
    if (answer.status >= 400 || location === null) throw failed(`HTTP ${answer.status}`);
    const next = URL.parse(location, url.href);
    if (next === null) throw new StewardError("slack_file_elsewhere");
    url = next;
  }
  throw failed("too many redirects");
}

async function readInfo(answer: Response): Promise<unknown> {
  if (!answer.ok) {
    await answer.body?.cancel();
    throw failed(`HTTP ${answer.status}`);
  }
  return parseJson(new TextDecoder().decode(await readBytes(answer, LONGEST_INFO_BYTES)));
}

function addressOf(info: unknown, id: string, chat: string | undefined): URL {
  const { ok, error, file } = infoSchema.safeParse(info).data ?? { ok: false };
  if (error === "missing_scope") {
    throw failed("the app lacks the scope files:read. Add it and reinstall the app");
  }
  if (!ok || file?.id !== id) throw failed(error ?? "the response does not describe the file");
  if (chat !== undefined && !isSharedWith(chat, file)) throw new StewardError("broker_other_chat");
  const url = URL.parse(file.url_private_download ?? file.url_private ?? "");
  if (url === null) throw failed("it has no URL");
  return url;
}

type FileShares = Readonly<Partial<Record<"channels" | "groups" | "ims" | "shares", unknown>>>;

/**
 * Returns true if the file is shared with the chat. `channels`, `groups` and `ims` list chats, and the objects in
 * `shares` have chats as keys: https://docs.slack.dev/reference/objects/file-object#properties
 */
function isSharedWith(chat: string, { channels, groups, ims, shares }: FileShares): boolean {
  const messages = isRecord(shares) ? Object.values(shares) : [];
  return (
    [channels, groups, ims].some((list) => Array.isArray(list) && list.includes(chat)) ||
    messages.some((chats) => isRecord(chats) && Object.hasOwn(chats, chat))
  );
}

/**
 * Matches a file's path: `/files-pri/<team>-<file>/<name>`, optionally with `download/`. Recordings are at
 * `/files-tmb/`, with a hash after the file's id.
 */
const FILE_PLACE = /^\/files-(?:pri|tmb)\/\w+-(?<file>\w+)(?:-\w+)?\/(?:download\/)?[^/]+$/;
/**
 * Matches an encoded slash, backslash, control or percent character, which could change the path if it is decoded
 * twice.
 */
const AMBIGUOUS = /%(?:25|2f|5c|7f|[01][0-9a-f])/i;

/** Returns true if `url` is an address of file `id` on Slack's file host or on the server in `SLACK_API_URL`. */
function isPlaceOf(id: string, url: URL, environment: Environment): boolean {
  const { origin, username, password, pathname } = url;
  const ownOrigin = new URL(directAddress("slack", environment)).origin;
  if (username !== "" || password !== "" || (origin !== FILES_ORIGIN && origin !== ownOrigin)) return false;
  return FILE_PLACE.exec(pathname)?.groups?.["file"] === id && !AMBIGUOUS.test(pathname);
}

function failed(why: string): StewardError {
  return new StewardError("channel_failed", `Slack does not provide the file: ${why}.`);
}
