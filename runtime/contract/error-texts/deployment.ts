import type { ErrorText } from "./error-text.ts";

/** Errors of a deployment. The runtime never reports them, so its bundles omit them. */
export const DEPLOYMENT_ERRORS = {
  application_orphaned: {
    status: 409,
    title: "The container application is tied to a different Durable Object namespace",
    cause: "A container application of this name was left behind by a deleted Worker.",
    fix: ({ script }) =>
      `Remove it with \`${script("orphans", "--remove", "<id>")}\`, or change steward:workerName and add an entry with a new tag to steward:migrations. Then deploy again.`,
  },
  application_foreign: {
    status: 409,
    title: "Container application of another Worker",
    cause: "A container application of this name exists and is not tied to this stack's Worker.",
    fix: "Set steward:workerName to another name, then deploy again: the application's name derives from it.",
  },
  bucket_foreign: {
    status: 409,
    title: "The bucket belongs to another stack",
    cause: "A bucket with this name already exists and is marked as belonging to another deployment.",
    fix: "If that deployment no longer exists, set steward:adoptBucket to the id that the preview prints. Otherwise, set steward:bucketName to another name.",
  },
  bucket_unmarked: {
    status: 409,
    title: "The bucket has no owner marker",
    cause: "A bucket with this name exists, but it has no marker from steward that names its owner.",
    fix: "If the bucket is yours, set steward:adoptBucket to its name: the stack then takes over the bucket and its data. Otherwise, set steward:bucketName to another name.",
  },
  bucket_rename_empties: {
    status: 409,
    title: "A new bucket name would delete the data",
    cause:
      'The bucket\'s name changes while steward:bucketOnDestroy is "empty", so the deployment would empty the previous bucket.',
    fix: 'Set steward:bucketOnDestroy to "keep", deploy, and only then change steward:bucketName. Or leave the name as it is.',
  },
  bucket_gone: {
    status: 404,
    title: "The bucket is gone",
    cause: "Somebody deleted the bucket of this stack.",
    fix: ({ pulumi }) => `Run \`${pulumi("up", "--refresh")}\`, which creates it again.`,
  },
  bucket_not_empty: {
    status: 409,
    title: "The bucket cannot be emptied",
    cause: "The bucket has content that cannot be listed, or a program is still writing to it.",
    fix: "Stop the programs that write to the bucket, abort unfinished uploads in Cloudflare's dashboard (they expire after a week), then destroy again.",
  },
  application_gone: {
    status: 404,
    title: "The container application is gone",
    cause: "Somebody deleted the container application of this stack.",
    fix: ({ pulumi }) => `Run \`${pulumi("up", "--refresh")}\`, which creates it again.`,
  },
  state_newer: {
    status: 409,
    title: "A newer version deployed the stack",
    cause:
      "A newer version of steward deployed the stack and stored state in a format that this version does not know.",
    fix: "Deploy with the version that deployed last, or a later one. Nothing was changed.",
  },
  rollout_failed: {
    status: 502,
    title: "The container's rollout failed",
    cause: "Cloudflare rolled back to the previous image, which is still running.",
    fix: "Read what Cloudflare reports about the image and the instance type, then deploy again. Until then the previous image runs.",
  },
  application_in_use: {
    status: 409,
    title: "The container application is not an orphan",
    cause: "No orphaned container application has this id.",
    fix: ({ script }) => `Remove only what \`${script("orphans")}\` lists.`,
  },
  migration_tag_missing: {
    status: 409,
    title: "The deployment would rename the Worker without a new migration tag",
    cause: "The Durable Object classes belong to the Worker with the old name.",
    fix: ({ script }) =>
      `Rename it with \`${script("migrate", "--worker-name", "<name>")}\`, which adds the tag, or keep steward:workerName.`,
  },
  migration_changed: {
    status: 409,
    title: "The migrations applied in the account differ from steward:migrations",
    cause:
      "Cloudflare applies the migration with a given tag only once, so an entry of steward:migrations must not change after it has been applied.",
    fix: "List the applied entries in steward:migrations exactly as the account records them, then add new ones after them.",
  },
  migration_refused: {
    status: 502,
    title: "A migration was not applied",
    cause: "Cloudflare rejected the migration, so it has not been applied.",
    fix: "Correct or remove the entries of steward:migrations that have not been applied, then deploy again.",
  },
  worker_gone: {
    status: 409,
    title: "The stack's Worker is gone",
    cause: "Somebody deleted the Worker, including its Durable Object classes and their data.",
    fix: ({ pulumi }) => `Run \`${pulumi("up", "--refresh")}\`, which creates it again.`,
  },
  worker_name_taken: {
    status: 409,
    title: "The account already has a Worker of this name",
    cause: "The stack did not create this Worker, and so will not overwrite it.",
    fix: "Choose another steward:workerName, or import the Worker if it belongs to this stack.",
  },
  migration_not_accepted: {
    status: 409,
    title: "--accept-migration names another migration",
    cause: "The migration tag that you accepted is not the one that this change adds.",
    fix: "Run the preview without --accept-migration, then run it again with --accept-migration and the tag that the first preview names.",
  },
  token_permission_missing: {
    status: 403,
    title: "The Cloudflare API token lacks a permission",
    cause: "Deploying this stack needs permissions that the Cloudflare API token does not have.",
    fix: "Give the token the named permissions, each with Edit access.",
  },
  token_refused: {
    status: 403,
    title: "The Cloudflare API token is refused",
    cause: "The token is expired, revoked or mistyped, or belongs to another account.",
    fix: ({ configSet }) =>
      `Run \`${configSet("cloudflare:apiToken", "<token>", { secret: true })}\` with a valid Cloudflare API token for the account in steward:accountId.`,
  },
  cloudflare_refused: {
    status: 502,
    title: "Cloudflare refuses a request",
    cause: "Cloudflare's API refused the request.",
    fix: ({ pulumi }) =>
      `Read Cloudflare's message. If it names something that was changed outside of the stack, run \`${pulumi("up", "--refresh")}\`.`,
  },
  cloudflare_unavailable: {
    status: 502,
    title: "Cloudflare is unavailable",
    cause: "Cloudflare returned a server error, or asked steward to wait.",
    fix: "Try again later; https://www.cloudflarestatus.com lists incidents.",
  },
  cloudflare_unreachable: {
    status: 502,
    title: "Cloudflare cannot be reached",
    cause: "Cloudflare's API did not respond.",
    fix: "Check this machine's network, DNS and proxy, then try again.",
  },
  rehearsal_ended: {
    status: 502,
    title: "The rehearsal is not running",
    cause: "The stack was created by a rehearsal whose Cloudflare emulator is not answering.",
    fix: "Start the rehearsal again and leave it running.",
  },
  service_unreachable: {
    status: 502,
    title: "The service does not answer",
    cause: "The deployed service does not answer at its address.",
    fix: ({ script }) =>
      `Check that this machine can reach the address; \`${script("drift")}\` shows whether the service still exists.`,
  },
  stack_not_serverless: {
    status: 400,
    title: "Not a serverless stack",
    cause: "The stack's steward:target is host.",
    fix: "Give the name of a stack whose steward:target is serverless.",
  },
  stack_not_host: {
    status: 400,
    title: "Not a host stack",
    cause: "The stack's steward:target is serverless.",
    fix: "Give the name of a stack whose steward:target is host.",
  },
  deployment_stale: {
    status: 409,
    title: "Changes do not take effect",
    cause: "The running version is not the one that was deployed last.",
    fix: ({ pulumi }) =>
      `Run \`${pulumi("up")}\` again: it rebuilds the bundle, so there is no cache to clear. If the problem persists, another deployment is answering at this address: check that the \`url\` in \`${pulumi("stack output")}\` leads only to this stack's service.`,
  },
  slack_config_token_invalid: {
    status: 502,
    title: "Slack refuses the app configuration token",
    cause: "The token is wrong or has expired; it lasts twelve hours.",
    fix: ({ configSet, script }) =>
      `Generate a token at https://api.slack.com/apps, run \`${configSet("steward:slackConfigToken", "<token>", { secret: true })}\`, then deploy again. Or remove steward:slackConfigToken and steward:slackAppId, and paste the output of \`${script("slack-manifest")}\` into the app's manifest.`,
  },
  registration_refused: {
    status: 502,
    title: "The chat platform refused the registration",
    cause: "The platform refuses the address, the secret or the commands.",
    fix: "Make sure that the service answers at a public https address (steward:hostname, steward:subdomain) and that the channel's keys belong to one app, then deploy again.",
  },
  registration_unreachable: {
    status: 502,
    title: "The chat platform does not answer",
    cause: "The platform did not answer a registration request, or answered with a server error.",
    fix: "Check that this machine can reach the platform (and steward:endpoints, if set), then deploy again.",
  },
  secret_refused: {
    status: 502,
    title: "A secret is refused",
    cause: "The platform refuses the value. The deployment keeps the previous one.",
    fix: ({ configSet }) =>
      `Set the right value with \`${configSet("<the named key>", "<value>", { secret: true })}\`, then deploy again.`,
  },
  secret_untried: {
    status: 502,
    title: "A secret could not be checked",
    cause: "The platform did not say whether it accepts the value. The deployment keeps the previous one.",
    fix: "Check that this machine can reach the platform (and steward:endpoints, if set), then deploy again.",
  },
  image_too_large: {
    status: 413,
    title: "The image is too large",
    cause: "The image does not fit on the instance type's disk.",
    fix: ({ configSet }) =>
      `Choose a type with more disk (\`${configSet("steward:instanceType", "<type>")}\`), or make the image smaller, then deploy again.`,
  },
  image_platform_wrong: {
    status: 500,
    title: "The image is for another platform",
    cause: "Cloudflare runs linux/amd64 only, and the image was built for another processor.",
    fix: "Build with a linux/amd64 Docker engine (set DOCKER_HOST to use a remote one), or push an image yourself and set steward:image to its name.",
  },
  registry_refused: {
    status: 502,
    title: "The registry refuses the push",
    cause: "The registry credentials, which are issued for a single push, have expired or lack a permission.",
    fix: "Deploy again: each deployment gets new credentials and skips image layers that have already been pushed. If the error persists, grant the API token the Containers: Edit permission.",
  },
  image_push_failed: {
    status: 502,
    title: "The image was not pushed",
    cause: "The engine could not push the image to the registry.",
    fix: "Check that the Docker engine can reach the registry, then deploy again.",
  },
  running_config_invalid: {
    status: 409,
    title: "The running config is not valid",
    cause: "The gateway cannot start with the config in the data directory.",
    fix: "Repair it on the service's page `/_admin/config`, then deploy again. `steward config unset <path>` in the container also removes an invalid key, but cannot change a file that is not JSON or contains a duplicate key.",
  },
  config_variables_missing: {
    status: 409,
    title: "The config refers to variables that the deployment does not set",
    cause:
      "After deploying, environment variables that the running config uses would be missing, or an API key would be sent to a different service.",
    fix: "Set each variable again, or remove the references to them from the config before you deploy: on `/_admin/config/edit`, or with `steward config unset` in the container.",
  },
  host_not_ready: {
    status: 500,
    title: "The host is not ready for this deployment",
    cause: "The host lacks something that the deployment needs.",
    fix: "Apply the fix given with each problem, then deploy again.",
  },
  docker_unavailable: {
    status: 500,
    title: "The Docker engine cannot be reached",
    cause: "No Docker engine answers at the configured address.",
    fix: "Start it, or set steward:docker to the engine's address.",
  },
  container_gone: {
    status: 409,
    title: "The container is gone",
    cause: "The container that the stack deployed was removed or replaced outside of Pulumi.",
    fix: ({ pulumi }) => `Run \`${pulumi("up", "--refresh")}\`, which creates it again.`,
  },
  host_name_taken: {
    status: 409,
    title: "A name that the stack needs is already in use on the Docker engine",
    cause: "The engine already has a container or volume of that name, which this stack did not create.",
    fix: "Rename or remove it, as the message says, then deploy again.",
  },
  volume_gone: {
    status: 409,
    title: "The volume is gone",
    cause: "The volume with the service's data was removed, or steward:docker now names another engine.",
    fix: ({ pulumi }) =>
      `Set steward:docker to the engine that has the volume, or start with an empty volume: \`${pulumi("up", "--refresh")}\`.`,
  },
  host_cpus_short: {
    status: 500,
    title: "The host has too few processors",
    cause: "steward:cpus is higher than the number of processors on the machine that runs the Docker engine.",
    fix: "Lower steward:cpus, or give the machine more processors.",
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
    title: "The data volume is elsewhere",
    cause: "The deployment would start with an empty data directory instead of the one in use.",
    fix: "Copy the data first, or keep steward:hostDataDirectory unchanged.",
  },
  stack_not_deployed: {
    status: 404,
    title: "Nothing is deployed",
    cause: "The stack's state contains no deployed service.",
    fix: ({ script }) => `Deploy the stack first, with \`${script("rollout")}\`.`,
  },
  rollout_under_way: {
    status: 409,
    title: "Another rollout is in progress",
    cause: "Another rollout or update of this stack is still running.",
    fix: ({ pulumi }) =>
      `Wait until it ends. If it was killed, release the lock with \`${pulumi("cancel")}\`.`,
  },
  promotion_unproven: {
    status: 409,
    title: "Nothing to promote: no successful rollout",
    cause: "No successful rollout of the source stack's running version is recorded.",
    fix: ({ tool }) =>
      `Run \`${tool("rollout", "<source>")}\` again until it exits with 0, or copy the records from .steward/rollouts/<source>/ of the checkout that rolled it out. Then promote again.`,
  },
  promotion_differs: {
    status: 409,
    title: "This checkout differs from what was rolled out",
    cause: "This checkout builds a different bundle than the one that the source stack runs.",
    fix: "Check out the commit that was rolled out to the source stack and install its packages, or roll out your current checkout to the source stack. Then promote again.",
  },
  promotion_image_elsewhere: {
    status: 409,
    title: "The image is in another account",
    cause: "The source stack's image is in its account's registry, which the target's account cannot read.",
    fix: "Push the image to a registry that both accounts can read, set the source stack's steward:image to the image's name and digest (name@sha256:…), roll that out, then promote it.",
  },
  stack_config_invalid: {
    status: 500,
    title: "Invalid stack configuration",
    cause: "The stack's configuration has unknown or missing keys, or invalid values.",
    fix: ({ configSet }) => `Correct each named key with \`${configSet("<key>", "<value>")}\`.`,
  },
} as const satisfies Record<string, ErrorText>;
