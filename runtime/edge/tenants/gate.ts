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

/** Time for which a refusal counts without another question, so that a flood of one chat is not the directory's. */
const REFUSED_MS = 10_000;
const UNDECIDED = "undecided";
/** An operator has approved the person who writes here, and no message has come since. */
const APPROVED = "approved";
/** Most by which the container's clock is behind. */
const SKEW_MS = 60_000;
/** Senders of one chat whose refusals are remembered. */
const MOST_SENDERS = 500;

/** Dependencies of {@link TenantGate}. */
interface TenantGateOptions {
  tenant: TenantId;
  directory: Pick<TenantDirectory, "introduce" | "moved">;
  notes: Notes;
  /**
   * Returns the container's present run, and the time of its newest backup in milliseconds since the epoch. Absent if the
   * gateway's disk outlives a run.
   */
  run?(): { id: string; backedUpAt: number | undefined };
  clock: Clock;
}

/** Notes that nobody has decided about a chat yet. */
export function forgetDecision(notes: Pick<Notes, "write">): void {
  notes.write("admitted", UNDECIDED);
  notes.write("grant", "");
}

/** Returns how an event ends that is not let in. */
export function refusedResult(
  standing: Exclude<AdmissionDecision, { admitted: true }>,
): { kind: "settled" } & SettledAs {
  const group = "group" in standing ? standing.group : undefined;
  return { kind: "settled", state: "ignored", note: standing.note, group };
}

/** Gate of an object's ledger: it decides which events reach the container. */
export type Gate = Pick<TenantGate, "isOpen" | "movedTo" | "followMove" | "ask" | "passOnGrant">;

/**
 * Returns the gate of an object whose ledger holds events from before a change of the tenancy.
 *
 * @param belongsTo Name of the object that an event belongs to now; `undefined` for an event that nothing answers.
 */
export function forwardingGate(belongsTo: (event: Delivery) => string | undefined): Gate {
  return {
    isOpen: false,
    movedTo: undefined,
    async followMove() {},
    async ask(event) {
      const movedTo = belongsTo(event);
      if (movedTo === undefined) return { admitted: false, note: "an event of no chat" };
      return { admitted: false, note: `passed on to ${movedTo}`, movedTo };
    },
    async passOnGrant() {
      return true;
    },
  };
}

/**
 * Decides whether a chat's messages reach a container. The directory is asked at a chat's first message; an admitted
 * chat is remembered, and its later messages touch no object but its own.
 */
export class TenantGate {
  readonly #options: TenantGateOptions;
  /** The question about each sender that is in progress, or was answered with a refusal. */
  readonly #questions = new Map<string, { standing: Promise<AdmissionDecision>; until: number }>();
  /** Number of changes of rights. */
  #changes = 0;

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

  /**
   * True if the chat's container may run: for an admitted or approved chat, or for schedules of one that nobody has decided
   * about.
   */
  get mayRun(): boolean {
    const decision = this.#options.notes.read("admitted") ?? UNDECIDED;
    return this.isOpen || decision === APPROVED || (decision === UNDECIDED && this.expectsSchedules);
  }

  /** True if the chat had a schedule when that was looked up last. */
  get expectsSchedules(): boolean {
    return this.#options.notes.read("scheduled") === "yes";
  }

  /** Notes that the directory has let the chat's person in. */
  open(): void {
    this.#options.notes.write("admitted", "yes");
  }

  /**
   * An operator has changed the rights of the browser that writes here; `role` is absent for one that was revoked. Its pages
   * have to connect again.
   */
  changeBrowser(role: GrantedRole | undefined, pages: Pick<ChatRelay, "closePages">): void {
    if (role === undefined) this.#options.notes.write("admitted", "");
    pages.closePages(role === undefined ? "revoked" : "restart");
  }

  /** Lets the container run for the chat's schedules. Its messages are decided about as before. */
  expectSchedules(): void {
    this.#options.notes.write("scheduled", "yes");
  }

  /** Notes that the chat has another id now. */
  async followMove(event: Delivery): Promise<void> {
    const { tenant, directory, notes } = this.#options;
    const { chat, move } = placeOf(event) ?? {};
    if (chat === undefined || move === undefined || !this.isOpen) return;
    await directory.moved(tenant, tenantOf({ ...chat, chat: move.to }));
    notes.write("chat", move.to);
  }

  /**
   * Returns the decision about an event of a chat that is not known to be admitted. Events of one sender share a
   * question; another sender in the same group may be let in. Rejects if nobody can decide.
   */
  ask(event: Delivery): Promise<AdmissionDecision> {
    const { clock } = this.#options;
    const sender = placeOf(event)?.sender ?? "";
    const known = this.#questions.get(sender);
    if (known !== undefined && clock() < known.until) return known.standing;
    const question = { standing: this.#introduce(event), until: Number.POSITIVE_INFINITY };
    // A group may have more people than the object should remember.
    const [oldest] = this.#questions.keys();
    if (oldest !== undefined && this.#questions.size >= MOST_SENDERS) this.#questions.delete(oldest);
    this.#questions.delete(sender);
    this.#questions.set(sender, question);
    void question.standing.then(
      ({ admitted }) => void (question.until = admitted ? 0 : clock() + REFUSED_MS),
      () => void (question.until = 0),
    );
    return question.standing;
  }

  async #introduce(event: Delivery): Promise<AdmissionDecision> {
    const { tenant, directory, notes } = this.#options;
    const changes = this.#changes;
    const standing = await directory.introduce(tenant, event);
    // Rights changed meanwhile, and the answer may be from before.
    if (changes !== this.#changes) return this.#introduce(event);
    if (!standing.admitted) {
      if (standing.movedTo !== undefined) notes.write("movedTo", standing.movedTo);
      return standing;
    }
    if (standing.grant !== undefined) notes.write("grant", JSON.stringify(standing.grant));
    this.open();
    return standing;
  }

  /**
   * An operator has changed somebody's rights: the next event is a question again, and without rights no schedule runs.
   * Tells a gateway that runs.
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
   * Tells the chat's gateway of rights that it may not know yet: each run of a container, until a backup has them.
   *
   * @returns false if it was not told
   */
  async passOnGrant(sandbox: Pick<Sandbox, "request">): Promise<boolean> {
    const { notes, run, clock } = this.#options;
    const text = notes.read("grant");
    if (!text) return true;
    const told = parseJson(notes.read("grantTold") ?? "") as Told | undefined;
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
    // A gateway that does not know the sender lets nobody in.
    const isTold = reply.ok === true || (role === undefined && reply.error.code === "sender_unknown");
    if (isTold && run === undefined) notes.write("grant", "");
    else if (isTold)
      notes.write("grantTold", JSON.stringify({ grant: text, run: id, at: clock() } satisfies Told));
    return isTold;
  }
}

/** Note of a grant that a run of the container was told of. */
interface Told {
  grant: string;
  run: string;
  /** Milliseconds since the epoch. */
  at: number;
}
