import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Delivery } from "../../contract/delivery.ts";
import { type TenantId, tenantOf } from "../../contract/tenant.ts";
import { pairing } from "../../operations/pairing.ts";
import { parseJson } from "../../shared/json.ts";
import type { ChatRelay } from "../chat-relay.ts";
import type { SettledAs } from "../ledger/store.ts";
import { askOperation } from "../operate.ts";
import type { Clock, Notes, Sandbox } from "../ports.ts";
import { placeOf } from "./place.ts";
import type { Grant, AdmissionDecision, TenantDirectory } from "./ports.ts";

/** Cache duration of a refusal. The cache shields the directory from a flood in one chat. */
const REFUSED_MS = 10_000;
const UNDECIDED = "undecided";
/** State of a chat whose sender was approved but has not written since. */
const APPROVED = "approved";
/** Maximum lag of the container's clock. */
const SKEW_MS = 60_000;
const MAX_SENDERS = 500;

interface TenantGateOptions {
  tenant: TenantId;
  directory: Pick<TenantDirectory, "introduce" | "moved">;
  notes: Notes;
  /**
   * Returns the id of the container's current run, and the time of its newest backup in milliseconds since the epoch.
   * Absent if the gateway's disk is persistent.
   */
  run?(): { id: string; backedUpAt: number | undefined };
  clock: Clock;
}

/** Resets the chat to undecided. */
export function forgetDecision(notes: Pick<Notes, "write">): void {
  notes.write("admitted", UNDECIDED);
  notes.write("grant", "");
}

export function refusedResult(
  standing: Exclude<AdmissionDecision, { admitted: true }>,
): { kind: "settled" } & SettledAs {
  const group = "group" in standing ? standing.group : undefined;
  return { kind: "settled", state: "ignored", note: standing.note, group };
}

export type Gate = Pick<TenantGate, "isOpen" | "movedTo" | "followMove" | "ask" | "passOnGrant">;

/**
 * Returns a gate for a Durable Object that no longer serves any chat. The gate forwards each event to the object that
 * now serves the event's chat.
 *
 * @param belongsTo Returns the name of that object; `undefined` for an event without a chat.
 */
export function forwardingGate(belongsTo: (event: Delivery) => string | undefined): Gate {
  return {
    isOpen: false,
    movedTo: undefined,
    async followMove() {},
    async ask(event) {
      const movedTo = belongsTo(event);
      if (movedTo === undefined) return { admitted: false, note: "event without a chat" };
      return { admitted: false, note: `passed on to ${movedTo}`, movedTo };
    },
    async passOnGrant() {
      return true;
    },
  };
}

/** Decides whether a chat's messages reach its container. Asks the directory only until the chat is admitted. */
export class TenantGate {
  readonly #options: TenantGateOptions;
  /** Pending questions and cached refusals, by sender. */
  readonly #questions = new Map<string, { standing: Promise<AdmissionDecision>; until: number }>();
  /** Number of changes to the chat's rights. If the number grows while the directory decides, the gate asks again. */
  #changes = 0;

  constructor(options: TenantGateOptions) {
    this.#options = options;
  }

  /** True if the chat's admission is stored. */
  get isOpen(): boolean {
    return this.#options.notes.read("admitted") === "yes";
  }

  /** The tenant that now gets this chat's events; `undefined` unless the chat's id has changed. */
  get movedTo(): TenantId | undefined {
    return this.#options.notes.read("movedTo");
  }

  /** True for an admitted or approved chat, and for an undecided chat with schedules. */
  get mayRun(): boolean {
    const decision = this.#options.notes.read("admitted") ?? UNDECIDED;
    return this.isOpen || decision === APPROVED || (decision === UNDECIDED && this.expectsSchedules);
  }

  get expectsSchedules(): boolean {
    return this.#options.notes.read("scheduled") === "yes";
  }

  open(): void {
    this.#options.notes.write("admitted", "yes");
  }

  /** Applies a browser's changed rights and disconnects its pages. Without `role`, revokes access. */
  changeBrowser(role: GrantedRole | undefined, pages: Pick<ChatRelay, "closePages">): void {
    if (role === undefined) this.#options.notes.write("admitted", "");
    pages.closePages(role === undefined ? "revoked" : "restart");
  }

  /** Allows the container to run for the chat's schedules. Does not admit the chat's messages. */
  expectSchedules(): void {
    this.#options.notes.write("scheduled", "yes");
  }

  /** Reports the chat's new id to the directory, if the event contains one. */
  async followMove(event: Delivery): Promise<void> {
    const { tenant, directory, notes } = this.#options;
    const { chat, move } = placeOf(event) ?? {};
    if (chat === undefined || move === undefined || !this.isOpen) return;
    await directory.moved(tenant, tenantOf({ ...chat, chat: move.to }));
    notes.write("chat", move.to);
  }

  /**
   * Asks the directory whether to admit an event's sender. Caches refusals.
   *
   * @throws if the directory does not answer.
   */
  ask(event: Delivery): Promise<AdmissionDecision> {
    const { clock } = this.#options;
    const sender = placeOf(event)?.sender ?? "";
    const known = this.#questions.get(sender);
    if (known !== undefined && clock() < known.until) return known.standing;
    const question = { standing: this.#askDirectory(event), until: Number.POSITIVE_INFINITY };
    // Bound the cache: a group may have many members.
    const [oldest] = this.#questions.keys();
    if (oldest !== undefined && this.#questions.size >= MAX_SENDERS) this.#questions.delete(oldest);
    this.#questions.delete(sender);
    this.#questions.set(sender, question);
    void question.standing.then(
      ({ admitted }) => void (question.until = admitted ? 0 : clock() + REFUSED_MS),
      () => void (question.until = 0),
    );
    return question.standing;
  }

  async #askDirectory(event: Delivery): Promise<AdmissionDecision> {
    const { tenant, directory, notes } = this.#options;
    const changes = this.#changes;
    const standing = await directory.introduce(tenant, event);
    // Rights changed while the directory decided, so the decision may be outdated.
    if (changes !== this.#changes) return this.#askDirectory(event);
    if (!standing.admitted) {
      if (standing.movedTo !== undefined) notes.write("movedTo", standing.movedTo);
      return standing;
    }
    if (standing.grant !== undefined) notes.write("grant", JSON.stringify(standing.grant));
    this.open();
    return standing;
  }

  /**
   * Applies changed rights: the chat's next event is checked again, and the container does not start for a revoked
   * chat's schedules.
   */
  async change(grant: Grant, sandbox: Pick<Sandbox, "status" | "request">): Promise<void> {
    const { notes } = this.#options;
    this.#changes += 1;
    this.#questions.clear();
    notes.write("admitted", grant.role === undefined ? "" : APPROVED);
    notes.write("grant", JSON.stringify(grant));
    if ((await sandbox.status()).state === "ready") await this.passOnGrant(sandbox);
  }

  /**
   * Sends a changed grant to the gateway, unless the gateway has accepted it in this run of the container or a backup
   * contains it.
   *
   * @returns false if the gateway did not accept the grant
   */
  async passOnGrant(sandbox: Pick<Sandbox, "request">): Promise<boolean> {
    const { notes, run, clock } = this.#options;
    const text = notes.read("grant");
    if (!text) return true;
    const told = parseJson(notes.read("grantTold") ?? "") as AcceptedGrant | undefined;
    const { id, backedUpAt = 0 } = run?.() ?? { id: "" };
    if (told?.grant === text) {
      if (backedUpAt > told.at + SKEW_MS) notes.write("grant", "");
      if (backedUpAt > told.at + SKEW_MS || told.run === id) return true;
    }
    const { channel, sender, role } = JSON.parse(text) as Grant;
    const reply =
      role === undefined
        ? await askOperation(sandbox, pairing.revoke, { channel, sender })
        : await askOperation(sandbox, pairing.grant, { channel, sender, role });
    // A revocation also succeeds if the gateway does not know the sender.
    const isTold = reply.ok === true || (role === undefined && reply.error.code === "sender_unknown");
    if (isTold && run === undefined) notes.write("grant", "");
    else if (isTold)
      notes.write("grantTold", JSON.stringify({ grant: text, run: id, at: clock() } satisfies AcceptedGrant));
    return isTold;
  }
}

/** Record of when, and in which run of the container, the gateway accepted a grant. */
interface AcceptedGrant {
  grant: string;
  run: string;
  at: number;
}
