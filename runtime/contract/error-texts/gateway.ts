import type { ErrorText } from "./error-text.ts";

export const GATEWAY_ERRORS = {
  gateway_not_ready: {
    status: 502,
    title: "The gateway is not ready",
    cause: "The container is stopped or starting, or has crashed.",
    fix: "Wait: a cold start usually takes a few seconds, and at most 2 minutes. If the error persists, read /debug/processes?logs=true.",
  },
  gateway_unavailable: {
    status: 503,
    title: "The gateway is not available",
    cause: "The gateway is stopped, starting or failing. Verified events are queued and will be answered.",
    fix: "Wait: a cold start usually takes a few seconds, and at most 2 minutes. If the error persists, read /debug/processes?logs=true.",
  },
  crash_looping: {
    status: 502,
    title: "The gateway keeps crashing",
    cause: "The cause is usually an invalid model provider key, a corrupt config or too little memory.",
    fix: "Read /debug/processes?logs=true, fix the cause, then restart.",
  },
  sandboxes_full: {
    status: 503,
    title: "All allowed containers are in use",
    cause:
      "The maximum number of containers (steward:maxSandboxes) is running, and none can be put to sleep.",
    fix: "Wait: messages are queued until a container is free. If the error persists, raise steward:maxSandboxes and deploy again.",
  },
  tenant_unknown: {
    status: 404,
    title: "This chat has no sandbox",
    cause: "The chat has not been admitted, so no container starts for it.",
    fix: "Approve a person who writes in the group, or list the group in the config. The next message or schedule then starts a container.",
  },
  tenancy_unsupported: {
    status: 500,
    title: "This host cannot run each chat as its own system user",
    cause:
      "With TENANCY=chat, each chat's gateway runs as a separate user, so the container must start as root with the CHOWN, KILL, SETGID and SETUID capabilities.",
    fix: "Set steward:tenancy to shared and deploy again, or give the container the capability named in the error details.",
  },
  chats_not_copied: {
    status: 500,
    title: "Some chats' data has not been backed up",
    cause:
      "The service ended without a backup of these chats' data: it was killed, or a backup failed. Its log names a failed backup.",
    fix: "Deploy once more with steward:tenancy set to chat (unless the rollout already did so), wait a minute, then switch back to shared. To discard the chats' data instead, remove backups/tenants/<id>/changed and restart the service.",
  },
  out_of_memory: {
    status: 502,
    title: "The container ran out of memory",
    cause: "The kernel killed the gateway because the container ran out of memory (OOM-killed).",
    fix: "Give the container more memory (steward:memoryMiB on a host, steward:instanceType on Cloudflare) and deploy again.",
  },
  events_waiting: {
    status: 503,
    title: "Events are waiting",
    cause: "An event has been waiting longer than usual for a reply.",
    fix: "Open /_admin/ledger?state=waiting for the reason, and /_admin/ for the gateway's state.",
  },
  alerts_failed: {
    status: 502,
    title: "Alerts are not delivered",
    cause: "A destination in steward:alerts refuses alerts.",
    fix: "Correct the addresses in steward:alerts and deploy again.",
  },
  commands_busy: {
    status: 429,
    title: "Too many commands are running",
    cause: "The container is already running as many commands as it may at the same time.",
    fix: "Try again in a moment; a command runs for at most 20 seconds.",
  },
  command_timed_out: {
    status: 504,
    title: "The command timed out",
    cause: "The container did not answer the command in time.",
    fix: "Reload the page: the command may have finished. Otherwise run it in the container.",
  },
  command_failed: {
    status: 502,
    title: "The command failed",
    cause: "The command failed, or its output has an unexpected format.",
    fix: "Run it with /debug/cli, which shows the whole output, or with `steward` in the container.",
  },
  command_not_allowed: {
    status: 400,
    title: "The command is not allowed here",
    cause: "This command is not on the list of those allowed in the container.",
    fix: "Use one of the commands named in the error details. For everything else, run `steward` in the container.",
  },
  file_unreadable: {
    status: 404,
    title: "The file cannot be shown",
    cause: "It does not exist, is not a regular text file, is too large, or is a link.",
    fix: "Name a text file in the data directory, such as steward.json.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    cause: "An unexpected error.",
    fix: "Search the log for the request's id.",
  },
  port_in_use: {
    status: 500,
    title: "The port is already in use",
    cause: "Another process holds the port.",
    fix: "Stop the program that uses the port, or map a different host port (steward:hostPort, PORT) to the container's port 8080.",
  },
  inner_port_in_use: {
    status: 500,
    title: "An internal port is already in use",
    cause: "Another process on this machine holds the port of the gateway or of the supervisor.",
    fix: "Stop that process, or set GATEWAY_PORT or SUPERVISOR_PORT to a free port.",
  },
  dm_policy_set: {
    status: 502,
    title: "TELEGRAM_DM_POLICY must not be set",
    cause: "TELEGRAM_DM_POLICY has a non-empty value.",
    fix: "Remove TELEGRAM_DM_POLICY; if a secret cannot be deleted, set it to an empty value.",
  },
  data_directory_unwritable: {
    status: 500,
    title: "The data directory is not writable",
    cause: "steward has no permission to write to the data directory (on a host, the mounted volume).",
    fix: "Give the directory to the user that runs steward (chown), or start with elevated rights.",
  },
  environment_invalid: {
    status: 500,
    title: "Invalid environment",
    cause: "An environment variable has a value that is not allowed.",
    fix: "Correct the variables named in the error details, then deploy again.",
  },
} as const satisfies Record<string, ErrorText>;
