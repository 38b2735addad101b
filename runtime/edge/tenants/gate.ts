import type { Delivery } from "../../contract/delivery.ts";
import { type TenantId, tenantOf } from "../../contract/tenant.ts";
import { pairing } from "../../operations/pairing.ts";
import { askOperation } from "../operate.ts";
import type { Clock, Sandbox } from "../ports.ts";
import { placeOf } from "./place.ts";
import type { Grant, Standing, TenantDirectory } from "./ports.ts";

/** Time for which a refusal counts without another question, so that a flood of one chat is not the directory's. */
const REFUSED_MS = 10_000;

/** Texts by name that outlive the object's memory. */
interface Notes {
  read(name: string): string | undefined;
  write(name: string, value: string): void;
}

/** Dependencies of {@link TenantGate}. */
interface TenantGateOptions {
  tenant: TenantId;
  directory: Pick<TenantDirectory, "introduce" | "moved">;
  notes: Notes;
  clock: Clock;
}

/**
 * Decides whether a chat's messages reach a container. The directory is asked at a chat's first message; an admitted
 * chat is remembered, and its later messages touch no object but its own.
 */
export class TenantGate {
  readonly #options: TenantGateOptions;
  #refused: { standing: Standing; until: number } | undefined;

  constructor(options: TenantGateOptions) {
    this.#options = options;
  }

  /** True if the chat is known to be admitted. */
  get isOpen(): boolean {
    return this.#options.notes.read("admitted") === "yes";
  }

  /** The tenant that this chat's events belong to, which had another id before; `undefined` for any other chat. */
  get movedTo(): TenantId | undefined {
    return this.#options.notes.read("movedTo");
  }

  /** Notes that the chat has another id now. */
  async followMove(event: Delivery): Promise<void> {
    const { tenant, directory, notes } = this.#options;
    const { chat, move } = placeOf(event) ?? {};
    if (chat === undefined || move === undefined || !this.isOpen) return;
    await directory.moved(tenant, tenantOf({ ...chat, chat: move.to }));
    notes.write("chat", move.to);
  }

  /** Returns the decision about an event of a chat that is not known to be admitted. Rejects if nobody can decide. */
  async ask(event: Delivery): Promise<Standing> {
    const { tenant, directory, notes, clock } = this.#options;
    if (this.#refused !== undefined && clock() < this.#refused.until) return this.#refused.standing;
    const standing = await directory.introduce(tenant, event);
    if (!standing.admitted && standing.movedTo !== undefined) {
      notes.write("movedTo", standing.movedTo);
      return standing;
    }
    if (!standing.admitted) {
      this.#refused = { standing, until: clock() + REFUSED_MS };
      return standing;
    }
    if (standing.grant !== undefined) notes.write("grant", JSON.stringify(standing.grant));
    notes.write("admitted", "yes");
    return standing;
  }

  /** An operator has changed somebody's rights: the next event is a question again. */
  change(grant: Grant): void {
    const { notes } = this.#options;
    this.#refused = undefined;
    notes.write("admitted", "");
    notes.write("grant", JSON.stringify(grant));
  }

  /** Tells the chat's gateway of rights that it does not know yet. @returns false if it was not told */
  async passOnGrant(sandbox: Pick<Sandbox, "request">): Promise<boolean> {
    const { notes } = this.#options;
    const text = notes.read("grant");
    if (!text) return true;
    const { channel, sender, role } = JSON.parse(text) as Grant;
    const reply =
      role === undefined
        ? await askOperation(sandbox, pairing.revoke, { channel, sender })
        : await askOperation(sandbox, pairing.grant, { channel, sender, role });
    // A gateway that does not know the sender lets nobody in.
    const isTold = reply.ok === true || (role === undefined && reply.error.code === "sender_unknown");
    if (isTold) notes.write("grant", "");
    return isTold;
  }
}
