import type { ContainerBackups } from "../backups/container-backups.ts";
import type { DueSchedule } from "../edge/due-schedule.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import type { Clock } from "../edge/ports.ts";
import type { ChatRelay } from "../edge/chat-relay.ts";
import type { SandboxContainer } from "./container.ts";
import type { ContainerGateway } from "./gateway.ts";
import type { ContainerLedger } from "./ledger.ts";

/** Parts of the object that keep its container awake, or end with it. */
export interface SleepParts {
  store: LedgerStore;
  ledger: ContainerLedger;
  schedule: DueSchedule;
  container: SandboxContainer;
  gateway: ContainerGateway;
  state: ContainerBackups;
  chat: ChatRelay;
  clock: Clock;
}

/** Puts a container to sleep that nobody uses. */
export class Sleep {
  readonly #parts: SleepParts;

  constructor(parts: SleepParts) {
    this.#parts = parts;
  }

  /** Time at which the container may sleep, in milliseconds since the epoch; `undefined` if it is not to. */
  get dueAt(): number | undefined {
    const { container, gateway, state } = this.#parts;
    if (!container.running || !gateway.sleeps) return undefined;
    return Math.max(gateway.activityExpiresAt, state.service.againAt);
  }

  /** Puts the container to sleep if it was not used for long enough. */
  async whenIdle(): Promise<void> {
    const { gateway, clock } = this.#parts;
    await this.#unless(() => this.#isBusy || clock() < gateway.activityExpiresAt);
  }

  /** Puts the container to sleep early, since another one is wanted. @returns true if it does not run any more */
  async early(): Promise<boolean> {
    await this.#unless(() => this.#isBusy);
    return !this.#parts.container.running;
  }

  /** Something is under way that needs the container. */
  get #isBusy(): boolean {
    const { store, ledger, container, gateway, state, chat } = this.#parts;
    const expected = store.hasOpen() && !ledger.startAgain.failing;
    const isUsed = gateway.isAsked || chat.answering || state.service.busy;
    return !container.running || container.starting || expected || isUsed;
  }

  async #unless(isWanted: () => boolean): Promise<void> {
    const { schedule, container, chat } = this.#parts;
    // Check again after each slow step: the container may be in use again.
    if (isWanted() || (await schedule.poll()) || isWanted()) return;
    if (!(await container.backUp()) || isWanted()) return;
    chat.closePages("asleep");
    await container.stop();
  }
}
