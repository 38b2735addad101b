import type { SandboxStatus } from "../contract/control.ts";
import { reason } from "../contract/errors.ts";
import type { Restorer } from "./backups/restorer.ts";
import type { Notes } from "./notes.ts";

/** What {@link ContainerReport} works with. */
export interface ContainerReportOptions {
  notes: Notes;
  restorer: Pick<Restorer, "reason">;
}

/** The status of a container that does not tell it itself. */
export class ContainerReport {
  readonly #options: ContainerReportOptions;

  constructor(options: ContainerReportOptions) {
    this.#options = options;
  }

  stopped(): SandboxStatus {
    const { notes, restorer } = this.#options;
    const crash = notes.read("crash");
    const cause = restorer.reason ?? (crash ? reason("crash_looping", crash) : undefined);
    return {
      state: "stopped",
      since: notes.time("stoppedAt"),
      restarts: 0,
      ...(cause && { reason: cause }),
      ...notes.coldStart(),
    };
  }

  /** One that runs without its data. `answered`: its supervisor has, so that it waits for the data alone. */
  booting(answered: boolean): SandboxStatus {
    const at = this.#options.notes.time("startedAt");
    const phase = answered ? "restoring" : "starting";
    return { ...this.stopped(), state: "starting", since: at, start: { at, phase } };
  }

  /** The container itself ends before its supervisor answers, again and again: no wait mends that. */
  givenUp(): SandboxStatus {
    const detail = this.#options.notes.read("crash") || "The container ends before it answers.";
    return { ...this.stopped(), state: "crash-looping", reason: reason("crash_looping", detail) };
  }

  /** A cold start is the container's, of which the supervisor knows only its own part. */
  fromItsStart(status: SandboxStatus): SandboxStatus {
    const { notes } = this.#options;
    if (status.start === undefined || !notes.startIsOpen) return status;
    return { ...status, start: { ...status.start, at: notes.time("startedAt") } };
  }
}
