import type { AnswerOptions, Question } from "../../../runtime/gateway/agent/agent.ts";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { deliveriesOver, message } from "./deliveries.ts";

/** An answer in the making, which the test brings to its end. */
interface Turn {
  /** Neither ended nor broken off. */
  open: boolean;
  asked: string[];
  quoted: (readonly { kind: string; text: string }[])[];
  say(soFar: string): void;
  end(text?: string): void;
  fail(error: Error): void;
}

/** An inbox whose agent keeps a transcript as the real one does, and answers when the test says so. */
export async function turnStage() {
  const turns: Turn[] = [];
  const answer = async (question: Question, { signal, onText }: AnswerOptions) => {
    const { session: conversation, messages, direct } = question;
    const deliveries = messages.map(({ delivery }) => delivery);
    const { sessions } = current;
    const earlier = sessions.answerTo(conversation, deliveries.at(-1) ?? "");
    sessions.ask({ session: conversation, messages, group: !direct, at: Date.now() });
    if (earlier !== undefined) return earlier;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const turn: Turn = {
      open: true,
      asked: messages.map(({ text }) => text),
      quoted: messages.map(({ quoted = [] }) => quoted),
      say: (soFar) => onText?.(soFar),
      end: (text = "ok") => {
        turn.open = false;
        resolve(text);
      },
      fail: (error) => {
        turn.open = false;
        reject(error);
      },
    };
    signal.addEventListener("abort", () => turn.fail(new RetryableError("gateway_unavailable", "stopped")));
    turns.push(turn);
    const text = await promise;
    sessions.keepAnswer(conversation, deliveries, text, Date.now());
    return { text, delivery: deliveries.at(-1) ?? "" };
  };
  const all = await deliveriesOver(answer);
  let current: Pick<typeof all, "inbox" | "sessions" | "context"> = all;
  const from = (id: string, text: string, inbound: object = {}) =>
    message(id, text, { message: id, ...inbound }, { receivedAt: Date.now() });
  return {
    ...all,
    turns,
    /** After a crash: the same database. */
    crash: () => {
      for (const turn of turns) turn.open = false;
      current = all.again();
      return current;
    },
    from,
    edit: (id: string, of: string, text: string, inbound: object = {}) =>
      from(id, text, { message: of, edited: true, ...inbound }),
    deletion: (id: string, of: string) => from(id, "", { kind: "deleted", message: of }),
    take: (...deliveries: ReturnType<typeof from>[]) => current.inbox.take(deliveries),
    say: (delivery: ReturnType<typeof from>) => current.inbox.deliver(delivery),
  };
}
