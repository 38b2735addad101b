import { PLATFORM_TITLES, type Platform, platformSchema } from "../../contract/delivery.ts";
import { namedOperators } from "../../shared/channel-access.ts";
import type { Log } from "../../shared/log.ts";
import type { Action, Actions, Button } from "../actions.ts";
import type { Channel } from "../channels/channel.ts";
import type { Components } from "../components.ts";
import { type Devices, grantedTo, isUsable } from "../../shared/devices.ts";
import { WEB, type WebOutbox, webSession } from "../webchat/outbox.ts";
import { label } from "../prompt/text.ts";
import type { PairingStores } from "./store.ts";

/** Milliseconds for which a stranger's request stays valid. */
const VALID_MS = 3_600_000;
const LONGEST_NAME = 60;

interface AdmissionQuestionsOptions {
  parts(): Pick<Components, "config" | "channels">;
  stores: PairingStores;
  devices: Pick<Devices, "paired">;
  outbox: Pick<WebOutbox, "ask">;
  actions: Actions;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

export class AdmissionQuestions {
  readonly #options: AdmissionQuestionsOptions;

  constructor(options: AdmissionQuestionsOptions) {
    this.#options = options;
  }

  /**
   * Asks each operator whether to admit the sender, once per access request. Asks in the web chat and on platforms
   * with buttons. Never rejects.
   */
  async ask(platform: Platform, sender: string, meta: Readonly<Record<string, string>> = {}): Promise<void> {
    const { parts, stores, devices, outbox, actions, clock, log } = this.#options;
    const { config, channels } = parts();
    if (
      !stores(platform)
        .pending()
        .some(({ id }) => id === sender)
    )
      return;
    const who = { platform, sender, name: nameOf(sender, meta) };
    const about = `admit ${platform} ${sender}`;
    const text = `${who.name} asks for access on ${PLATFORM_TITLES[platform]}. Let this person in?`;
    const choices = [
      { label: "Let in", action: { does: "admit" as const, ...who } },
      { label: "Refuse", action: { does: "refuse" as const, ...who } },
    ];
    const offer = (on: Platform | typeof WEB, by: string): Button[] =>
      actions.offer({ platform: on, by, about, choices, expiresAt: clock() + VALID_MS });
    const named = new Set(namedOperators(config, WEB));
    const browsers = devices.paired().filter(isUsable);
    for (const device of browsers) {
      const by = device.deviceId;
      const isOperator = named.has(by) || grantedTo(device) === "operator";
      if (isOperator && !actions.waits(about, by))
        outbox.ask(webSession(by), "", { question: text, buttons: offer(WEB, by) });
    }
    for (const asked of platformSchema.options) {
      const channel = channels.get(asked);
      if (channel?.answerPress === undefined) continue;
      for (const by of new Set([...namedOperators(config, asked), ...stores(asked).operators()])) {
        if (actions.waits(about, by)) continue;
        const buttons = offer(asked, by);
        await send(channel, by, text, buttons).catch((error: unknown) => {
          log.warn("an operator could not be asked about a sender", { ...who, error: String(error) });
        });
      }
    }
  }

  /** Admits or refuses the sender of a pending request. Returns the answer to the operator. */
  settle({ does, platform, sender, name }: Extract<Action, { does: "admit" | "refuse" }>): string {
    const { stores, log } = this.#options;
    const store = stores(platform);
    const request = store.pending().find(({ id }) => id === sender);
    if (request === undefined) {
      const isIn = store.granted(sender) !== undefined;
      return isIn ? `${name} may already write to me.` : `The request of ${name} is no longer pending.`;
    }
    log.info("an operator answered a request by a button", { platform, sender, does });
    if (does === "admit") {
      store.approve(request.code);
      return `${name} may write to me now and will be notified.`;
    }
    store.reject(request.code);
    return `${name} may not write to me.`;
  }
}

async function send(
  channel: Channel,
  person: string,
  text: string,
  buttons: readonly Button[],
): Promise<void> {
  const chat = (await channel.directChat?.(person)) ?? person;
  await channel.send({ chat }, text, 0, buttons);
}

/** Returns a sender's name with the id, because names are not unique. */
function nameOf(sender: string, { firstName = "", username = "" }: Readonly<Record<string, string>>): string {
  const shown = label(firstName, LONGEST_NAME);
  const account = label(username.replace(/[^\w.-]/g, ""), LONGEST_NAME);
  const parts = [shown, account === "" ? "" : `@${account}`, `(${sender})`];
  return parts.filter((part) => part !== "").join(" ");
}
