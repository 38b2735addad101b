import type { Platform } from "../../contract/delivery.ts";
import type { Log } from "../../contract/log.ts";
import { AGENT } from "../../contract/names.ts";
import { PLATFORM_TITLES } from "../channels/titles.ts";
import type { PairingStores } from "./stores.ts";
import type { WaitingSender, WaitingSenders } from "./waiting.ts";

/** What the desk works with. */
export interface PairingDeskOptions {
  stores: PairingStores;
  waiting: WaitingSenders;
  log: Log;
}

/** Where a stranger asks to be let in. */
export class PairingDesk {
  readonly #options: PairingDeskOptions;

  constructor(options: PairingDeskOptions) {
    this.#options = options;
  }

  /**
   * What the stranger is told; `meta` is what the platform tells of it. `undefined`: nothing at all, while as many as
   * allowed wait already.
   */
  ask({ meta, ...stranger }: WaitingSender & { meta?: Record<string, string> }): string | undefined {
    const { stores, waiting, log } = this.#options;
    const { platform, sender } = stranger;
    const request = stores(platform).request(sender, meta);
    // The code stays out of the log: it is for the sender and the operator.
    log.info(request ? "a sender asks to be let in" : "a sender was left waiting: the list is full", {
      platform,
      sender,
    });
    if (request === undefined) return undefined;
    waiting.add(stranger);
    return pairingText(platform, sender, request.code);
  }
}

function pairingText(platform: Platform, sender: string, code: string): string {
  return [
    "I do not know you yet, so I have not read your message.",
    `Your ${PLATFORM_TITLES[platform]} user id: ${sender}`,
    `Your pairing code: ${code}`,
    `To let you in, the operator runs within the hour: ${AGENT} pairing approve ${platform} ${code}`,
  ].join("\n");
}
