import type { ChatTurn, ToPage } from "../../contract/chat.ts";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Admission, Sender } from "../../contract/message.ts";
import type { Log } from "../../shared/log.ts";
import type { Agent } from "../agent/agent.ts";
import { RetryableError } from "../failure.ts";
import type { ReadOptions } from "../inbox/attachments.ts";
import { UNHEARD_TEXTS } from "../inbox/notices.ts";
import { DELIBERATE_LIMITS } from "../inbox/replies.ts";
import { parseMarkdown } from "../markdown/parse.ts";
import { type IncomingFile, readWebMessage } from "./files.ts";
import { WEB } from "./outbox.ts";

/** Milliseconds between updates of a growing answer. */
const TEXT_EVERY_MS = 80;

export interface From {
  id: string;
  sender: Sender;
  grants: GrantedRole;
  /** Empty for the first conversation. */
  conversation: string;
}

export interface WebMessage extends From {
  text: string;
  files: readonly IncomingFile[];
  /** Id of the conversation's last message, if the new message replaces it. */
  instead?: string | undefined;
}

interface AnswerOptions {
  agent(): Pick<Agent, "answer">;
  reading(): Pick<ReadOptions, "media" | "contextTokens">;
  session: string;
  admission: Admission;
  signal: AbortSignal;
  tell(message: ToPage): void;
  /** Called with the whole text so far. The text is empty if the answer starts over. */
  onText(soFar: string): void;
  onAsked(): void;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Lets the model answer. Returns the final message for the web chat; `undefined` after an abort.
 *
 * @throws RetryableError if a retry may help.
 */
export async function answerWebMessage(
  said: WebMessage,
  options: AnswerOptions,
): Promise<ToPage | undefined> {
  const { id, sender, text: asked } = said;
  const { agent, reading, session, admission, signal, tell, onText, onAsked, clock, log } = options;
  const started = clock();
  tell({ type: "typing", id });
  const growing = throttle(TEXT_EVERY_MS, (soFar) => {
    if (!signal.aborted) tell({ type: "text", id, soFar, blocks: parseMarkdown(soFar) });
  });
  try {
    const { read, unheard } = await readWebMessage(said, { ...reading(), signal });
    if (unheard !== undefined) return { type: "answer", id, ...asMarkdown(UNHEARD_TEXTS[unheard]) };
    const message = { delivery: id, sender, admission, ...read, words: asked.length };
    const answer = agent().answer(
      { session, platform: WEB, target: { chat: sender.id }, direct: true, messages: [message] },
      {
        signal,
        onText: (soFar) => {
          onText(soFar);
          growing.add(soFar);
        },
      },
    );
    onAsked();
    const { text, failure } = await answer;
    if (signal.aborted) return undefined;
    // Failures are not stored, so the page may send the same message again.
    if (failure !== undefined)
      return { type: "error", id, code: failure.code, text, again: !DELIBERATE_LIMITS.has(failure.code) };
    log.info("event answered", { id, platform: WEB, kind: "message", ms: clock() - started });
    return { type: "answer", id, ...asMarkdown(text) };
  } finally {
    growing.end();
  }
}

export function failureMessage(id: string, error: unknown): ToPage {
  const known = error instanceof StewardError ? error : undefined;
  const { code, detail, fix } = known?.reason ?? {
    code: "internal",
    detail: "Something went wrong.",
    fix: "Read the gateway's log.",
  };
  const again = known === undefined || known instanceof RetryableError;
  return { type: "error", id, code, text: again ? detail : `${detail} ${fix}`, again };
}

export function asMarkdown(text: string): Pick<ChatTurn, "text" | "blocks"> {
  return { text, blocks: parseMarkdown(text) };
}

/** Passes the newest text to `send`, at most once per `everyMs` milliseconds. */
function throttle(everyMs: number, send: (text: string) => void) {
  let newest: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (newest === undefined) return;
    send(newest);
    newest = undefined;
    timer = setTimeout(flush, everyMs);
  };
  return {
    add: (text: string): void => {
      newest = text;
      if (timer === undefined) flush();
    },
    end: (): void => clearTimeout(timer),
  };
}
