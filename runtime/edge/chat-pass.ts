import { SERVICE_OPERATIONS, type OperationName } from "../contract/service-operations.ts";
import type { TenantChat } from "../contract/tenant.ts";
import { isRecord, parseJson } from "../shared/json.ts";
import { readBytes } from "../shared/read-bytes.ts";

/** Maximum number of remembered files. A gateway uses a file soon after a response names it. */
const MAX_FILES = 256;
const LONGEST_ANSWER_BYTES = 64 * 1024;

/** Maximum size of a response about a person or a Discord server, in bytes. */
const LONGEST_PROFILE_BYTES = 1024 * 1024;

/** Functions that reduce responses about people and servers to names. Otherwise, chats could read e-mail addresses. */
const NAMES: Partial<Record<OperationName, (answer: Record<string, unknown>) => object>> = {
  "slack/users.info": ({ ok, error, user }) => {
    const { name, profile } = isRecord(user) ? user : {};
    const { display_name, real_name } = isRecord(profile) ? profile : {};
    return { ok, error, user: { name, profile: { display_name, real_name } } };
  },
  "discord/guild": ({ name }) => ({ name }),
};

/** Restricts a broker to one chat and to that chat's files. */
export class ChatPass {
  readonly #own: TenantChat;
  /**
   * Files that earlier responses named, oldest first: downloads as paths, uploads as the argument `files` of
   * `slack/files.completeUploadExternal`.
   */
  readonly #files = new Set<unknown>();

  /** @param own The permitted chat. Its id may change later. */
  constructor(own: TenantChat) {
    this.#own = own;
  }

  get chat(): string {
    return this.#own.chat;
  }

  /** Returns false for requests about any chat except {@link chat}. */
  allows(name: OperationName, given: Readonly<Record<string, unknown>>): boolean {
    const { chat } = SERVICE_OPERATIONS[name];
    if (chat === "none") return true;
    if (chat === "unnamed" || !name.startsWith(`${this.#own.platform}/`)) return false;
    // Allow the request: openSlackFile checks in which chats Slack shares the file.
    if (name === "slack/file") return true;
    if (chat === "file") return this.#files.has(given["path"]);
    // Refuse other chats, and any chat named as `@name` or `#name` instead of its id.
    if (given[chat] !== this.chat) return false;
    return name !== "slack/files.completeUploadExternal" || this.#files.has(given["files"]);
  }

  /**
   * Reduces a successful response about a person or a Discord server to names; returns other responses unchanged.
   * Records the Telegram file or Slack upload that a response names, so that later requests may use it.
   */
  async read(name: OperationName, answer: Response): Promise<Response> {
    const namesIn = NAMES[name];
    if (namesIn !== undefined && answer.ok) {
      const document = parseJson(new TextDecoder().decode(await readBytes(answer, LONGEST_PROFILE_BYTES)));
      return Response.json(isRecord(document) ? namesIn(document) : {});
    }
    if (name !== "telegram/getFile" && name !== "slack/files.getUploadURLExternal") return answer;
    const bytes = await readBytes(answer, LONGEST_ANSWER_BYTES);
    const document = parseJson(new TextDecoder().decode(bytes));
    const { result, file_id: id } = isRecord(document) ? document : {};
    if (isRecord(result)) this.#remember(result["file_path"]);
    if (typeof id === "string") this.#remember(JSON.stringify([{ id }]));
    const { status, headers } = answer;
    return new Response(bytes ?? null, { status, headers });
  }

  #remember(file: unknown): void {
    if (typeof file !== "string") return;
    this.#files.delete(file);
    this.#files.add(file);
    const [oldest] = this.#files;
    if (this.#files.size > MAX_FILES) this.#files.delete(oldest);
  }
}
