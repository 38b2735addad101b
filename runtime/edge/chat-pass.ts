import { StewardError } from "../contract/errors.ts";
import { SERVICE_OPERATIONS, type OperationName } from "../contract/service-operations.ts";
import type { TenantChat } from "../contract/tenant.ts";
import { isRecord, parseJson } from "../shared/json.ts";
import { readBytes } from "../shared/read-bytes.ts";

/** A gateway fetches a file right after it asked for its path, and a question has few files. */
const MOST_FILES = 256;
const LONGEST_ANSWER_BYTES = 64 * 1024;

/** A profile with all of its fields, or a server with its roles and emojis. */
const LONGEST_PROFILE_BYTES = 1024 * 1024;

/** Picks the names out of answers that any chat may ask for, since they concern none: a profile also has addresses. */
const NAMES: Partial<Record<OperationName, (answer: Record<string, unknown>) => object>> = {
  "slack/users.info": ({ ok, error, user }) => {
    const { name, profile } = isRecord(user) ? user : {};
    const { display_name, real_name } = isRecord(profile) ? profile : {};
    return { ok, error, user: { name, profile: { display_name, real_name } } };
  },
  "discord/guild": ({ name }) => ({ name }),
};

/**
 * Restricts a broker to one chat. A request that names another chat is refused, and so is a file that the service did
 * not give to this broker: other chats' files have names that can be guessed.
 */
export class ChatPass {
  readonly #own: TenantChat;
  /** Files by the text that names them in a later request. The oldest is first. In memory: a restart asks again. */
  readonly #files = new Set<unknown>();

  /** @param own Read at each request. */
  constructor(own: TenantChat) {
    this.#own = own;
  }

  /** Id of the chat on its platform. */
  get chat(): string {
    return this.#own.chat;
  }

  /**
   * Checks an operation with its arguments and fields.
   *
   * @throws StewardError `broker_other_chat`
   */
  check(name: OperationName, given: Readonly<Record<string, unknown>>): void {
    if (!this.#allows(name, given)) throw new StewardError("broker_other_chat");
  }

  #allows(name: OperationName, given: Readonly<Record<string, unknown>>): boolean {
    const { chat } = SERVICE_OPERATIONS[name];
    if (chat === "none") return true;
    if (chat === "unnamed" || !name.startsWith(`${this.#own.platform}/`)) return false;
    // The chats of a Slack file are in Slack's answer: openSlackFile checks them.
    if (name === "slack/file") return true;
    if (chat === "file") return this.#files.has(given["path"]);
    // Compared as text: the schemas take text only, and `@name` or `#name` is not the id of a tenant's chat.
    if (given[chat] !== this.chat) return false;
    // Another chat's file must not be shared into this one.
    return name !== "slack/files.completeUploadExternal" || this.#files.has(given["files"]);
  }

  /** Passes an answer on: of one about people or servers only the names, and remembers the file in one about a file. */
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
    if (this.#files.size > MOST_FILES) this.#files.delete(oldest);
  }
}
