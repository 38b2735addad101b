import { ROUTES } from "../../../runtime/contract/routes.ts";
import { signInteraction } from "../../../rehearsal/standins/discord-key.ts";
import { TYPED } from "../../support/typed.ts";
import type { Target } from "../../support/targets/target.ts";

/** An answer of a target, read whole. */
export interface Answer {
  /** What was asked: method and path. */
  asked: string;
  status: number;
  headers: Headers;
  text: string;
}

/** The fields of a JSON answer that the suite looks at. */
export type Fields = Record<string, unknown>;

/** A target as the suite speaks to it. Everything that it answers is kept, to be looked through at the end. */
export interface Client {
  target: Target;
  answers: readonly Answer[];
  ask(path: string, init?: RequestInit): Promise<Answer>;
  /** As an operator. */
  operate(path: string, init?: RequestInit): Promise<Answer>;
  /** The output of a command at `/debug/cli`. */
  run(command: string): Promise<Fields>;
  postSlack(event: unknown): Promise<Answer>;
  postTelegram(update: unknown, secret?: string): Promise<Answer>;
  /** A signed interaction. Where it is deferred, Discord waits for its answer from then on. */
  postDiscord(interaction: Fields): Promise<Answer>;
}

/** A client of a target. */
export function clientOf(target: Target): Client {
  const { settings, platforms, operator } = target;
  const answers: Answer[] = [];
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(new URL(path, target.url), { redirect: "manual", ...init });
    const { status, headers } = response;
    const answer = { asked: `${init.method ?? "GET"} ${path}`, status, headers, text: await response.text() };
    answers.push(answer);
    return answer;
  };
  const operate = (path: string, init: RequestInit = {}): Promise<Answer> =>
    ask(path, { ...init, headers: { ...(init.headers as Record<string, string>), ...operator } });
  const discordKey = {
    privateKey: settings.secrets.discordPrivateKey,
    publicKey: settings.secrets.discordPublicKey,
  };
  return {
    target,
    answers,
    ask,
    operate,
    run: async (command) =>
      fields(await operate(`${ROUTES.cli.path}?cmd=${encodeURIComponent(command)}`, { headers: TYPED })),
    postSlack: (event) => ask(ROUTES.slackEvents.path, { method: "POST", ...platforms.slack.sign(event) }),
    postTelegram: (update, secret = settings.secrets.telegramWebhookSecret) =>
      ask(ROUTES.telegramWebhook.path, {
        ...json(update),
        headers: { ...JSON_TYPE, "x-telegram-bot-api-secret-token": secret },
      }),
    async postDiscord(interaction) {
      const body = JSON.stringify(interaction);
      const headers = signInteraction(discordKey, body);
      const answer = await ask(ROUTES.discordInteractions.path, { method: "POST", body, headers });
      if (fields(answer)["type"] === DEFERRED) platforms.discord.defer(String(interaction["token"]));
      return answer;
    },
  };
}

/** Asks for a page, as a browser does. */
export const HTML = { headers: { accept: "text/html" } };
export const JSON_TYPE = { "content-type": "application/json" };
/** https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type */
const DEFERRED = 5;

/** The request that posts a value as JSON. */
export function json(value: unknown) {
  return { method: "POST", headers: JSON_TYPE, body: JSON.stringify(value) };
}

/** The JSON object of an answer; without one it has no fields. */
export function fields({ text }: Answer): Fields {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return {};
  }
}
