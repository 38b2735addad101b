import type { ErrorEntry } from "./entry.ts";

/** What a deployment can be wrong about: its stack, its environment, its image, its port. */
export const DEPLOYMENT_ERRORS = {
  application_orphaned: {
    status: 409,
    title: "Container application is tied to a different Durable Object namespace",
    cause: "A container application of this name was left behind by a deleted Worker.",
    fix: "Change steward:workerName and add a migration with the next tag, then deploy again.",
  },
  rollout_failed: {
    status: 502,
    title: "The container's rollout failed",
    cause: "Cloudflare went back to the former image, which goes on running.",
    fix: "Look at what Cloudflare says of the image and the instance type, then deploy again: the former image goes on until then.",
  },
  application_in_use: {
    status: 409,
    title: "The container application is no orphan",
    cause: "No orphaned container application has this id.",
    fix: "Remove what `npm run orphans -- <stack>` lists, and nothing else.",
  },
  migration_tag_missing: {
    status: 409,
    title: "The Worker's name changes without a new migration tag",
    cause: "Classes belong to the Worker of the old name.",
    fix: "Add an entry with the next tag to steward:migrations, as `npm run migrate -- <stack> --worker-name <name>` does, or keep steward:workerName.",
  },
  migration_changed: {
    status: 409,
    title: "An applied migration is missing or edited",
    cause: "Cloudflare applies a tag once: an entry that is applied stays as it was.",
    fix: "Restore the entries of steward:migrations that are applied, and add further ones behind them.",
  },
  migration_not_accepted: {
    status: 409,
    title: "Another migration is to be accepted",
    cause: "The tag that is accepted is not the one that the change adds.",
    fix: "Look at the preview without --accept-migration, and accept the tag that it names.",
  },
  token_permission_missing: {
    status: 403,
    title: "The API token lacks a permission",
    cause: "Cloudflare refuses the token something that the stack has to do.",
    fix: "Add the permissions that are named to the token, each to edit.",
  },
  token_refused: {
    status: 403,
    title: "The API token is refused",
    cause: "The token is expired, revoked, mistyped or another account's.",
    fix: "Set cloudflare:apiToken to a token of the account that steward:accountId names.",
  },
  stack_not_serverless: {
    status: 400,
    title: "Not a serverless stack",
    cause: "The stack's steward:target is host.",
    fix: "Give the name of a stack whose steward:target is serverless.",
  },
  webhooks_private: {
    status: 401,
    title: "Webhook routes are not public",
    cause: "This deployment runs with PUBLIC_WEBHOOKS=false.",
    fix: "Set PUBLIC_WEBHOOKS to true (steward:publicWebhooks) and deploy again.",
  },
  port_in_use: {
    status: 500,
    title: "The port is already in use",
    cause: "Another process holds the port.",
    fix: "Stop it, or map a different host port (steward:hostPort, PORT) to the container's port 8080.",
  },
  dm_policy_set: {
    status: 502,
    title: "TELEGRAM_DM_POLICY must not be set",
    cause: "TELEGRAM_DM_POLICY has a non-empty value.",
    fix: "Remove TELEGRAM_DM_POLICY; where a secret cannot be deleted, set it to the empty value.",
  },
  data_directory_unwritable: {
    status: 500,
    title: "The data directory cannot be written",
    cause: "Permission denied on the data directory (on a host: the volume's mount).",
    fix: "Give the directory to the user that runs steward (chown), or start with elevated rights.",
  },
  environment_invalid: {
    status: 500,
    title: "Invalid environment",
    cause: "An environment variable has a value that is not allowed.",
    fix: "Correct the variables named in the detail and deploy again.",
  },
  registration_refused: {
    status: 502,
    title: "The chat platform does not take the registration",
    cause: "The platform refuses the address, the secret or the commands that it was given.",
    fix: "Make sure that the service answers at a public https address (steward:hostname, steward:subdomain) and that the channel's keys belong to one app, then deploy again.",
  },
  registration_unreachable: {
    status: 502,
    title: "The chat platform does not answer",
    cause: "A registration got no answer from the platform, or a server error.",
    fix: "Check that this machine reaches the platform, and steward:endpoints where it names a server, then deploy again.",
  },
  host_not_ready: {
    status: 500,
    title: "The host cannot take this deployment",
    cause: "The host lacks what the deployment needs.",
    fix: "Do what each problem's fix says, then deploy again.",
  },
  docker_unavailable: {
    status: 500,
    title: "The Docker engine cannot be reached",
    cause: "No Docker engine answers at the configured address.",
    fix: "Start it, or set steward:docker to the engine's address.",
  },
  host_memory_short: {
    status: 500,
    title: "Too little memory",
    cause: "The host has less memory than the container may use.",
    fix: "Lower steward:memoryMiB, or give the machine more memory.",
  },
  host_disk_short: {
    status: 500,
    title: "Too little disk space",
    cause: "The host's disk has less free space than the deployment asks for.",
    fix: "Free space on the host, or lower steward:diskMiB.",
  },
  data_left_behind: {
    status: 409,
    title: "The data lies elsewhere",
    cause: "The deployment would begin with an empty data directory beside the one in use.",
    fix: "Copy the data first, or leave steward:hostDataDirectory as it was.",
  },
  stack_config_invalid: {
    status: 500,
    title: "Invalid stack configuration",
    cause: "The stack's configuration has unknown, missing or wrong keys.",
    fix: "Correct each key named below with `pulumi config set`.",
  },
} as const satisfies Record<string, ErrorEntry>;
