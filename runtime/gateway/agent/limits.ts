import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Config } from "../../contract/config/index.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { lightTransaction } from "../../process/database.ts";
import { DAY_MS, dayOf, type SourceUsageStore } from "../models/usage.ts";
import type { Question } from "./question.ts";

const MINUTE_MS = 60_000;
/** Number of days for which token counts are stored. Limits use only the current day. */
const KEPT_DAYS = 7;

/** Stores the number of tokens that each chat and person used per UTC day. */
export class SpendingStore {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  readonly #forget: StatementSync;
  readonly #of: StatementSync;
  readonly #count: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(
      `CREATE TABLE IF NOT EXISTS spending (
         day TEXT NOT NULL,
         who TEXT NOT NULL,
         tokens INTEGER NOT NULL,
         PRIMARY KEY (day, who)
       ) STRICT, WITHOUT ROWID`,
    );
    this.#add = database.prepare(
      "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (day, who) DO UPDATE SET tokens = tokens + excluded.tokens",
    );
    this.#forget = database.prepare("DELETE FROM spending WHERE day < ?");
    this.#of = database.prepare("SELECT tokens FROM spending WHERE day = ? AND who = ?");
    this.#count = database.prepare("SELECT count(*) AS count FROM spending WHERE day = ? AND tokens >= ?");
  }

  /**
   * Adds `tokens` to the usage of each chat and person in `whose`, for the UTC day of `at` (milliseconds since the
   * epoch).
   */
  add(whose: readonly string[], tokens: number, at: number): void {
    lightTransaction(this.#database, () => {
      this.#forget.run(dayOf(at - KEPT_DAYS * DAY_MS));
      for (const who of whose) this.#add.run(dayOf(at), who, tokens);
    });
  }

  of(who: string, at: number): number {
    return Number(this.#of.get(dayOf(at), who)?.["tokens"] ?? 0);
  }

  /** Counts the chats and people that used at least `tokens` on the UTC day of `at`. */
  reached(tokens: number, at: number): number {
    return Number(this.#count.get(dayOf(at), tokens)?.["count"]);
  }
}

export interface LimitsOptions {
  limits: Config["agent"]["limits"];
  spending: SpendingStore;
  sources: SourceUsageStore;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Limits messages and tokens, so that no chat or person exhausts the bot or its budget. */
export class Limits {
  readonly #options: LimitsOptions;
  #recent: { person: string; delivery: string; at: number }[] = [];

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts a question's messages toward the message limit. If a limit is reached, returns a refusal worded for the
   * chat.
   */
  refusal(question: Question): Reason | undefined {
    return this.#tooMany(question) ?? this.spent(question);
  }

  /** If today's tokens are used up, returns a refusal worded for the chat. */
  spent(question: Question): Reason | undefined {
    const { limits, spending, clock } = this.#options;
    const { tokensPerDay } = limits;
    if (tokensPerDay === undefined) return undefined;
    const [chat, ...people] = spendersOf(question);
    const has = (who = ""): boolean => spending.of(who, clock()) >= tokensPerDay;
    const whose = has(chat) ? "This chat has" : people.some(has) ? "You have" : undefined;
    if (whose === undefined) return undefined;
    const detail = `${whose} used today's ${tokensPerDay} tokens. I answer again after midnight (UTC).`;
    return reason("token_limit_reached", detail);
  }

  /** Counts one model request's tokens as used by the question's chat and senders. */
  spend(question: Question, answer: { model: string; tokens: { input: number; output: number } }): void {
    const { limits, spending, sources, clock } = this.#options;
    const { platform, target, messages } = question;
    const { sender } = messages.at(-1) ?? messages[0];
    sources.add({ platform, person: sender.id, place: target.chat }, answer, clock());
    const { tokens } = answer;
    if (limits.tokensPerDay === undefined) return;
    spending.add(spendersOf(question), tokens.input + tokens.output, clock());
  }

  #tooMany(question: Question): Reason | undefined {
    const { limits, clock } = this.#options;
    const { messagesPerMinute: most } = limits;
    if (most === undefined) return undefined;
    const now = clock();
    this.#recent = this.#recent.filter(({ at }) => now - at < MINUTE_MS);
    const known = new Set(this.#recent.map(({ delivery }) => delivery));
    for (const { delivery, sender } of question.messages) {
      // A retried message counts only once.
      if (!known.has(delivery)) this.#recent.push({ person: personOf(question, sender), delivery, at: now });
    }
    const last = question.messages.at(-1) ?? question.messages[0];
    const own = this.#recent.filter(({ person }) => person === personOf(question, last.sender));
    // Accept the first `most` messages that a person sends within a minute, and retries of these messages.
    if (own.findIndex(({ delivery }) => delivery === last.delivery) < most) return undefined;
    const detail = `That was more than ${most} messages within a minute, so I have not read this one. Write again in a minute.`;
    return reason("message_limit_reached", detail);
  }
}

function spendersOf(question: Question): string[] {
  const people = question.messages.map(({ sender }) => personOf(question, sender));
  return [...new Set([`chat ${question.platform} ${question.target.chat}`, ...people])];
}

function personOf({ platform }: Question, { id }: { id: string }): string {
  return `person ${platform} ${id}`;
}
