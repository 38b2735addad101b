import type { ErrorText } from "./error-text.ts";

/** The gateway's process, and commands inside the container. */
export const GATEWAY_ERRORS = {
  gateway_not_ready: {
    status: 502,
    title: "The gateway is not ready",
    cause: "The container is not started, still starting, or crashed.",
    fix: "Wait: a cold start takes seconds, at most 1 to 2 minutes. If it stays, read /debug/processes?logs=true.",
  },
  gateway_unavailable: {
    status: 503,
    title: "The gateway is not available",
    cause: "The gateway is stopped, starting or failing. A verified event is kept and will be answered.",
    fix: "Nothing, if the event was verified. Otherwise read /debug/processes?logs=true.",
  },
  crash_looping: {
    status: 502,
    title: "The gateway keeps crashing",
    cause: "Usually an invalid model provider key, a corrupt config or too little memory.",
    fix: "Read /debug/processes?logs=true, mend the cause, then restart.",
  },
  out_of_memory: {
    status: 502,
    title: "The container has too little memory",
    cause: "The kernel killed the gateway because the container's memory was full.",
    fix: "Give the container more (steward:memoryMiB on a host, steward:instanceType on Cloudflare) and deploy again.",
  },
  events_waiting: {
    status: 503,
    title: "Events wait for an answer",
    cause: "An event is older than what is usual, and is not answered yet.",
    fix: "Open /_admin/ledger?state=waiting, whose notes say why, and /_admin/ for the gateway's state.",
  },
  alerts_failed: {
    status: 502,
    title: "Alerts do not arrive",
    cause: "A destination of steward:alerts does not take what is sent to it.",
    fix: "Check the addresses in steward:alerts, set them again and deploy.",
  },
  commands_busy: {
    status: 429,
    title: "Too many commands run already",
    cause: "As many commands as allowed run in the container: 4.",
    fix: "Try again in a moment; a command ends after 20 seconds at the latest.",
  },
  command_timed_out: {
    status: 504,
    title: "The command takes too long",
    cause: "The container did not answer the command in time.",
    fix: "Load the page again: the command may have ended meanwhile. Otherwise run it in the container.",
  },
  command_failed: {
    status: 502,
    title: "The command failed",
    cause: "The command ended with an error, or its answer is not of the expected form.",
    fix: "Run it with /debug/cli, which shows its whole output, or `steward` in the container.",
  },
  command_not_allowed: {
    status: 400,
    title: "The command is not allowed here",
    cause: "The line is not one of those that may be run in the container.",
    fix: "Use one of the lines that the detail lists; for everything else run `steward` in the container.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    cause: "An error that was not foreseen.",
    fix: "Read the log for the request's id.",
  },
} as const satisfies Record<string, ErrorText>;
