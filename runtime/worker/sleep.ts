import type { ContainerBackups } from "../backups/container-backups.ts";
import type { DueSchedule } from "../edge/due-schedule.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import type { Clock } from "../edge/ports.ts";
import type { ChatRelay } from "../edge/chat-relay.ts";
import type { SandboxContainer } from "./container.ts";
import type { ContainerGateway } from "./gateway.ts";
import type { ContainerLedger } from "./ledger.ts";

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

export class Sleep {
  readonly #parts: SleepParts;

  constructor(parts: SleepParts) {
    this.#parts = parts;
  }

  /**
   * Earliest time at which the container may sleep, in milliseconds since the epoch; `undefined` if the container is
   * stopped or always on.
   */
  get dueAt(): number | undefined {
    const { container, gateway, state } = this.#parts;
    if (!container.running || !gateway.sleeps) return undefined;
    return Math.max(gateway.activityExpiresAt, state.service.againAt);
  }

  async sleepIfIdle(): Promise<void> {
    const { gateway, clock } = this.#parts;
    await this.#sleepUnless(() => this.#isBusy || clock() < gateway.activityExpiresAt);
  }

  /**
   * Puts an idle container to sleep before its timeout, to make room for another one.
   *
   * @returns true if the container is no longer running
   */
  async sleepEarly(): Promise<boolean> {
    await this.#sleepUnless(() => this.#isBusy);
    return !this.#parts.container.running;
  }

  get #isBusy(): boolean {
    const { store, ledger, container, gateway, state, chat } = this.#parts;
    const expected = store.hasOpen() && !ledger.startAgain.failing;
    const isUsed = gateway.isAsked || chat.answering || state.service.busy;
    return !container.running || container.starting || expected || isUsed;
  }

  async #sleepUnless(isWanted: () => boolean): Promise<void> {
    const { schedule, container, chat } = this.#parts;
    // Check again after each slow step: the container may be in use again.
    if (isWanted() || (await schedule.poll()) || isWanted()) return;
    if (!(await container.backUp()) || isWanted()) return;
    chat.closePages("asleep");
    await container.stop();
  }
}
