import { PLATFORM_TITLES, type Platform } from "../../contract/delivery.ts";
import type { Log } from "../../shared/log.ts";
import type { Action, Actions } from "../actions.ts";
import { namedOperators } from "../admission.ts";
import type { Components } from "../components.ts";
import { label } from "../prompt/text.ts";
import type { PairingStores } from "./store.ts";

/** As long as a stranger's request is valid. */
const VALID_MS = 3_600_000;
const LONGEST_NAME = 60;
/** A platform with buttons, on which the id of a person is that of the direct chat, too. */
const ASKED_ON = "telegram";

/** Dependencies of the questions. */
interface AdmissionQuestionsOptions {
  parts(): Pick<Components, "config" | "channels">;
  stores: PairingStores;
  actions: Actions;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Questions to operators whether somebody may write to the bot, answered by a button. */
export class AdmissionQuestions {
  readonly #options: AdmissionQuestionsOptions;

  constructor(options: AdmissionQuestionsOptions) {
    this.#options = options;
  }

  /** Asks each operator whom Telegram reaches, once a request. It never rejects: the operator also has the list. */
  async ask(platform: Platform, sender: string, meta: Readonly<Record<string, string>> = {}): Promise<void> {
    const { parts, stores, actions, clock, log } = this.#options;
    const { config, channels } = parts();
    const channel = channels.get(ASKED_ON);
    if (channel?.answerPress === undefined) return;
    if (
      !stores(platform)
        .pending()
        .some(({ id }) => id === sender)
    )
      return;
    const operators = new Set([...namedOperators(config, ASKED_ON), ...stores(ASKED_ON).operators()]);
    const name = nameOf(sender, meta);
    const about = `admit ${platform} ${sender}`;
    for (const operator of operators) {
      if (actions.waits(about, operator)) continue;
      const who = { platform, sender, name };
      const buttons = actions.offer({
        platform: ASKED_ON,
        chat: operator,
        by: operator,
        about,
        choices: [
          { label: "Let in", action: { does: "admit", ...who } },
          { label: "Refuse", action: { does: "refuse", ...who } },
        ],
        expiresAt: clock() + VALID_MS,
      });
      const text = `${name} asks on ${PLATFORM_TITLES[platform]} to write to me. Let this person in?`;
      await channel.send({ chat: operator }, text, 0, buttons).catch((error: unknown) => {
        log.warn("an operator could not be asked about a sender", { platform, sender, error: String(error) });
      });
    }
  }

  /** Carries an operator's answer out, and returns what became of the request. */
  settle({ does, platform, sender, name }: Exclude<Action, { does: "say" }>): string {
    const { stores, log } = this.#options;
    const store = stores(platform);
    const request = store.pending().find(({ id }) => id === sender);
    if (request === undefined) {
      const isIn = store.granted(sender) !== undefined;
      return isIn ? `${name} may write to me already.` : `The request of ${name} is not there any more.`;
    }
    log.info("an operator answered a request by a button", { platform, sender, does });
    if (does === "admit") {
      store.approve(request.code);
      return `${name} may write to me now, and is told so.`;
    }
    store.reject(request.code);
    return `${name} may not write to me.`;
  }
}

/** Returns how people are called to operators: a name that anyone chooses, with the id, which is theirs alone. */
function nameOf(sender: string, { firstName = "", username = "" }: Readonly<Record<string, string>>): string {
  const shown = label(firstName, LONGEST_NAME);
  const account = label(username.replace(/[^\w.-]/g, ""), LONGEST_NAME);
  const parts = [shown, account === "" ? "" : `@${account}`, `(${sender})`];
  return parts.filter((part) => part !== "").join(" ");
}
