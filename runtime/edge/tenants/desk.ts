import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import { type TenantId, tenantOf } from "../../contract/tenant.ts";
import {
  type ChannelAccess,
  pairingText,
  unknownGuildText,
  unknownSenderText,
} from "../../shared/channel-access.ts";
import type { PairingRequest } from "../../shared/pairing-list.ts";
import { type EventPlace, placeOf } from "./place.ts";
import type { AdmissionDecision } from "./ports.ts";

export interface Lists {
  granted(sender: string): GrantedRole | undefined;
  pending(): PairingRequest[];
  request(sender: string, meta: Record<string, string>): PairingRequest | undefined;
}

export interface TenantDeskOptions {
  /** Returns the access rules. Rejects if none could be read. */
  access(platform: Platform): Promise<ChannelAccess>;
  lists(platform: Platform): Lists;
  /** Registers an admitted tenant. */
  meet(tenant: TenantId): void;
  place(platform: Platform, sender: string, tenant: TenantId): void;
  /** Called for a sender's first pairing request. */
  onRequest(platform: Platform): void;
  /**
   * Replies in the event's chat, but only if the event clearly addresses the bot. Rejects if the platform refuses the
   * text.
   */
  say(event: Delivery, text: string): Promise<void>;
}

/** Decides which chats to admit. Replies to strangers without starting a container. */
export class TenantDesk {
  readonly #options: TenantDeskOptions;

  constructor(options: TenantDeskOptions) {
    this.#options = options;
  }

  /**
   * Decides whether to admit a chat. Rejects if a reply to a stranger could not be sent, so that the event is
   * retried.
   */
  async decide(tenant: TenantId, event: Delivery): Promise<AdmissionDecision> {
    const place = placeOf(event);
    if (place === undefined || tenantOf(place.chat) !== tenant) return notAdmitted("event without a chat");
    if (place.sender === undefined) return notAdmitted("written by a bot");
    const access = await this.#options.access(event.platform);
    const whose = { ...place, sender: place.sender };
    const standing = place.direct
      ? await this.#decideDirect(access, whose, event)
      : await this.#decideGroup(access, whose, event);
    if (standing.admitted) this.#options.meet(tenant);
    return standing;
  }

  async #decideDirect(
    access: ChannelAccess,
    { chat, sender, meta }: Whose,
    event: Delivery,
  ): Promise<AdmissionDecision> {
    const { lists, place, say, onRequest } = this.#options;
    const { platform } = event;
    const decision = access.direct(sender);
    place(platform, sender, tenantOf(chat));
    if (decision.allowed) {
      const role = lists(platform).granted(sender);
      return { admitted: true, ...(role && { grant: { channel: platform, sender, role } }) };
    }
    const { answer, reason } = decision;
    if (answer === "refuse") await say(event, unknownSenderText(platform, sender));
    if (answer === "pair") {
      const isKnown = lists(platform)
        .pending()
        .some(({ id }) => id === sender);
      const request = lists(platform).request(sender, meta);
      await say(event, pairingText(platform, sender, request?.code));
      if (request !== undefined && !isKnown) onRequest(platform);
    }
    return notAdmitted(reason);
  }

  async #decideGroup(
    access: ChannelAccess,
    { group, sender }: Whose,
    event: Delivery,
  ): Promise<AdmissionDecision> {
    // Assume that the message addresses the bot. The group's own gateway checks this.
    const decision = access.group(group, sender, true);
    if (decision.becomes !== "ignored") return { admitted: true };
    const { reason, unlisted } = decision;
    // Answer the command, which Discord shows as pending until it is answered.
    if (unlisted !== undefined && event.platform === "discord")
      await this.#options.say(event, unknownGuildText(unlisted));
    return { ...notAdmitted(reason), ...(unlisted !== undefined && { group: unlisted }) };
  }
}

type Whose = EventPlace & { sender: string };

function notAdmitted(note: string): { admitted: false; note: string } {
  return { admitted: false, note };
}
