/** What is known of an error before it happens. `cause` and `fix` are shown to people. */
interface ErrorEntry {
  /** HTTP status where the edge answers with it. */
  status: number;
  title: string;
  cause: string;
  fix: string;
}

/**
 * Every stable error code. The first block holds the rows of the specification's section 7, the
 * second what the service adds. Runtime, stacks and CLI read their texts here.
 */
export const ERRORS = {
  config_invalid: {
    status: 502,
    title: "Invalid config",
    cause: "The config file holds unknown, deprecated or wrong fields.",
    fix: "Correct or delete the config file (serverless: both cached bucket objects too), then restart or redeploy.",
  },
  application_orphaned: {
    status: 409,
    title: "Container application is tied to a different Durable Object namespace",
    cause: "A container application of this name was left behind by a deleted Worker.",
    fix: "Change steward:workerName and add a migration with the next tag, then deploy again.",
  },
  webhooks_private: {
    status: 401,
    title: "Webhook routes are not public",
    cause: "This deployment runs with PUBLIC_WEBHOOKS=false.",
    fix: "Set PUBLIC_WEBHOOKS to true (steward:publicWebhooks) and deploy again.",
  },
  identity_required: {
    status: 403,
    title: "Sign in first",
    cause: "The request carries no identity that this route accepts.",
    fix: "Sign in through the identity gateway; if that fails, check its team domain, audience tag and policy.",
  },
  sign_in_refused: {
    status: 403,
    title: "This is not the admin token",
    cause: "The token that was given is not this deployment's ADMIN_TOKEN.",
    fix: "Give the value of ADMIN_TOKEN (steward:adminToken).",
  },
  sign_in_limited: {
    status: 429,
    title: "Too many wrong tries",
    cause:
      "Wrong tokens were given: each makes the next try wait longer, and ten are the most in 15 minutes.",
    fix: "Wait. ADMIN_TOKEN as a Bearer works meanwhile.",
  },
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
  access_not_configured: {
    status: 500,
    title: "Missing identity gateway settings",
    cause: "EDGE_ACCESS_AUD or EDGE_ACCESS_TEAM_DOMAIN is missing.",
    fix: "Set EDGE_ACCESS_AUD and EDGE_ACCESS_TEAM_DOMAIN, then deploy again.",
  },
  port_in_use: {
    status: 500,
    title: "The port is already in use",
    cause: "Another process holds the port.",
    fix: "Stop it, or map a different host port (steward:hostPort, PORT) to the container's port 8080.",
  },
  crash_looping: {
    status: 502,
    title: "The gateway keeps crashing",
    cause: "Usually an invalid model provider key, a corrupt config or too little memory.",
    fix: "Read /debug/processes?logs=true, mend the cause, then restart.",
  },
  dm_policy_set: {
    status: 502,
    title: "TELEGRAM_DM_POLICY must not be set",
    cause: "TELEGRAM_DM_POLICY has a non-empty value.",
    fix: "Remove TELEGRAM_DM_POLICY; where a secret cannot be deleted, set it to the empty value.",
  },
  slack_token_expired: {
    status: 502,
    title: "Slack's OAuth token expired",
    cause: "Slack refuses the bot token as expired or revoked.",
    fix: "Reinstall the app in the workspace and set the new SLACK_BOT_TOKEN.",
  },
  model_key_invalid: {
    status: 502,
    title: "Invalid API key provided",
    cause: "The model provider refuses the API key (ANTHROPIC_API_KEY, or that of models.providers).",
    fix: "Correct ANTHROPIC_API_KEY, or the key of the provider that is named, and deploy again.",
  },
  model_rate_limited: {
    status: 503,
    title: "Rate limit exceeded",
    cause: "Too many requests to the model provider.",
    fix: "Wait a few minutes, or upgrade the provider's plan.",
  },
  model_not_available: {
    status: 502,
    title: "Model not available",
    cause: "The model does not exist or needs a higher access tier.",
    fix: "Use a model of the account's tier (models.primary), or upgrade.",
  },

  model_overloaded: {
    status: 503,
    title: "The model provider is overloaded",
    cause: "The model provider answered with a server error.",
    fix: "Nothing: the message is kept and tried again.",
  },
  model_no_answer: {
    status: 503,
    title: "The model provider does not answer",
    cause: "The model provider is out of reach, or took too long.",
    fix: "Nothing: the message is kept and tried again. If it stays, check the network and the provider's address.",
  },
  model_quota_exhausted: {
    status: 502,
    title: "The account with the model provider is used up",
    cause: "The account has no credit left, or its spending limit is reached.",
    fix: "Add credit or raise the limit in the provider's console.",
  },
  model_context_exceeded: {
    status: 502,
    title: "Too long for the model",
    cause: "The question is longer than the model reads, with nothing left to leave out.",
    fix: "Send a shorter message, or use a model that reads more (models.primary, models.contextTokens).",
  },
  model_failed: {
    status: 502,
    title: "The model gave no answer",
    cause: "The model provider refused the request or cut its answer short.",
    fix: "Read the gateway's log for the provider's own message.",
  },
  channel_failed: {
    status: 503,
    title: "The chat platform refused the reply",
    cause: "The chat platform answered with an error.",
    fix: "Check the channel's token and its permissions.",
  },
  reply_refused: {
    status: 502,
    title: "The chat takes no messages of the bot",
    cause: "The person blocked the bot, or the bot was removed from the chat or may not write there.",
    fix: "Nothing, if that was meant. Otherwise unblock the bot, or add it again with the right to write.",
  },
  edit_refused: {
    status: 502,
    title: "The message can no longer be edited",
    cause: "The chat platform does not let the bot change this message: it is deleted or too old.",
    fix: "Nothing: what is missing is sent as a new message.",
  },
  telegram_token_invalid: {
    status: 502,
    title: "Telegram refuses the bot token",
    cause: "The bot token is wrong, or it was revoked.",
    fix: "Copy the token from @BotFather into TELEGRAM_BOT_TOKEN (channels.telegram.botToken) and restart.",
  },
  telegram_conflict: {
    status: 502,
    title: "Telegram's updates go elsewhere",
    cause: "Another program polls with this bot token, or a webhook was set for it.",
    fix: "Stop the other program, or use a bot of its own for each deployment. A webhook that was set meanwhile is deleted by a restart; to keep it, set channels.telegram.webhookUrl.",
  },
  telegram_stalled: {
    status: 502,
    title: "Polling has stalled",
    cause: "Telegram was not asked for updates for more than three minutes.",
    fix: "Check that this machine reaches api.telegram.org, and read the log; then restart.",
  },
  telegram_unreachable: {
    status: 502,
    title: "Telegram does not answer",
    cause: "A request to Telegram's API got no answer, or a server error.",
    fix: "Nothing, if it passes: it is tried again. Otherwise check the network, the proxy and TELEGRAM_API_ROOT.",
  },
  telegram_webhook_failed: {
    status: 502,
    title: "Telegram did not take the webhook",
    cause:
      "Telegram refuses channels.telegram.webhookUrl, or its secret is not the one that is checked here.",
    fix: 'Use an https address on port 443, 80, 88 or 8443 that ends in /telegram-webhook, and {"env": "TELEGRAM_WEBHOOK_SECRET"} as webhookSecret (1 to 256 of A-Z, a-z, 0-9, _ and -).',
  },
  discord_token_invalid: {
    status: 502,
    title: "Discord refuses the bot token",
    cause: "The bot token is wrong or was reset.",
    fix: "Copy or reset the token on the Bot page of the Discord developer portal and set the new DISCORD_BOT_TOKEN.",
  },
  delivery_invalid: {
    status: 400,
    title: "The delivery is not valid",
    cause: "The request is not a delivery of this version's form.",
    fix: "Deploy the edge and the container from the same build.",
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
  access_misconfigured: {
    status: 500,
    title: "The identity gateway is misconfigured",
    cause: "EDGE_ACCESS_TEAM_DOMAIN is this service's own host or not a team domain.",
    fix: "Set EDGE_ACCESS_TEAM_DOMAIN to the identity gateway's team domain.",
  },
  access_unreachable: {
    status: 503,
    title: "The identity gateway's keys cannot be fetched",
    cause: "The identity gateway did not answer with its signing keys.",
    fix: "Check EDGE_ACCESS_TEAM_DOMAIN and that the identity gateway is up, then try again.",
  },
  channel_not_configured: {
    status: 403,
    title: "The channel is not configured",
    cause: "The signing secret of this channel is not set.",
    fix: "Set the channel's signing secret and deploy again.",
  },
  signature_invalid: {
    status: 403,
    title: "The signature is not valid",
    cause: "The request was not signed by the platform, or was signed more than 5 minutes ago.",
    fix: "Check the channel's signing secret and this machine's clock.",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large",
    cause: "The body is above 1 MiB.",
    fix: "Send a smaller body.",
  },
  media_type_unsupported: {
    status: 415,
    title: "Only JSON is accepted",
    cause: "The request's content type is not application/json.",
    fix: "Send Content-Type: application/json.",
  },
  body_invalid: {
    status: 400,
    title: "The body is not valid",
    cause: "The body is not a JSON object of the expected form.",
    fix: "Send the JSON that the platform documents.",
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
    cause: "The container did not answer the command within 10 seconds.",
    fix: "Load the page again: the command may have ended meanwhile. Otherwise run it in the container.",
  },
  command_failed: {
    status: 502,
    title: "The command failed",
    cause: "The command ended with an error, or its answer is not of the expected form.",
    fix: "Run it with /debug/cli, which shows its whole output, or `steward` in the container.",
  },
  form_invalid: {
    status: 400,
    title: "The form is not valid",
    cause: "A field of the form is missing, unknown or has a value that is not allowed.",
    fix: "Load the page again and use its buttons.",
  },
  query_invalid: {
    status: 400,
    title: "The query is not valid",
    cause: "A parameter of the query is unknown or has a value that is not allowed.",
    fix: "Correct the parameters named in the detail.",
  },
  cross_site: {
    status: 403,
    title: "Cross-site requests are refused",
    cause: "Another site's page made this request.",
    fix: "Open the address directly.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    cause: "More requests came from this client or identity than are taken in a minute.",
    fix: "Wait for the seconds that Retry-After names. Events that a platform signed are not limited.",
  },
  ledger_entry_unknown: {
    status: 404,
    title: "No such event",
    cause: "The ledger has no entry of this key: it never came, or was deleted seven days after its end.",
    fix: "See /debug/ledger for the keys.",
  },
  ledger_entry_not_dead: {
    status: 409,
    title: "The event was not given up",
    cause: "Only an event in the state dead can be delivered again; this one is under way or answered.",
    fix: "See /debug/ledger?state=dead for those that were given up.",
  },
  command_not_allowed: {
    status: 400,
    title: "The command is not allowed here",
    cause: "The line is not one of those that may be run in the container.",
    fix: "Use one of the lines that the detail lists; for everything else run `steward` in the container.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    cause: "No route has this address.",
    fix: "Check the address.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    cause: "An error that was not foreseen.",
    fix: "Read the log for the request's id.",
  },
  control_refused: {
    status: 401,
    title: "The control token is not valid",
    cause: "The request carries no valid control token.",
    fix: "Only the edge speaks to this port.",
  },
  config_missing: {
    status: 404,
    title: "There is no config file yet",
    cause: "The data directory holds no config file.",
    fix: "Start the gateway once: it writes the file from its environment.",
  },
  config_path_not_found: {
    status: 404,
    title: "Config path not found",
    cause: "The config has no value at this path.",
    fix: "See `steward config get channels` for what is there.",
  },
  usage_invalid: {
    status: 400,
    title: "The command line is not valid",
    cause: "The command, an argument or an option does not exist or is missing.",
    fix: "See `steward --help`, or the command's own --help.",
  },
  secret_in_plain: {
    status: 400,
    title: "A secret in plain text",
    cause: "The value is a secret and would stand in the config file in plain text.",
    fix: 'Put it into a variable and refer to it: `steward config set <path> --env NAME`, {"env": "NAME"} in the file.',
  },
  credentials_unused: {
    status: 500,
    title: "Credentials that nothing uses",
    cause: "A channel's credentials are set, but the config file has no such channel.",
    fix: "Add the channel with `steward config set`, or delete the config file and restart.",
  },
  rights_too_wide: {
    status: 500,
    title: "Others may read the data directory",
    cause: "Files of the data directory can be read by other users.",
    fix: "Run `steward doctor --fix`.",
  },
  store_corrupt: {
    status: 503,
    title: "A store is corrupt",
    cause: "A file of the data directory is not what was written into it.",
    fix: "Restart: it is set aside and a new one begun. Then restore a backup, or keep the set-aside file.",
  },
  disk_full: {
    status: 503,
    title: "The disk is full",
    cause: "The data directory's disk takes no more data.",
    fix: "Free space on the data directory's disk. Work goes on by itself then.",
  },
  pairing_code_unknown: {
    status: 404,
    title: "No pending pairing request found",
    cause: "No request with this code is pending: it was settled, or it is older than an hour.",
    fix: "See `steward pairing list` for the codes; after an hour the sender writes again for a new one.",
  },
  schedule_invalid: {
    status: 400,
    title: "The schedule is not valid",
    cause: "A schedule's time, text or chat is missing, wrong or past.",
    fix: "Correct it: exactly one of at, every, cron and exactly one of text, prompt, to a chat.",
  },
  schedule_unknown: {
    status: 404,
    title: "No such schedule",
    cause: "No schedule has this id: it was removed, or was due once and has run.",
    fix: "See `steward schedules list` for the ids.",
  },
  device_request_unknown: {
    status: 404,
    title: "No pending device request found",
    cause: "No request with this id is pending: it was settled, or it is older than 5 minutes.",
    fix: "See `steward devices list`; a chat page that is open asks again by itself.",
  },
  device_unknown: {
    status: 404,
    title: "No such device",
    cause: "No paired device has this id.",
    fix: "See `steward devices list` for the ids.",
  },
  device_id_ambiguous: {
    status: 409,
    title: "The id is not unique",
    cause: "Several ids begin with what was given.",
    fix: "Give more of the id; see `steward devices list`.",
  },
  device_refused: {
    status: 403,
    title: "This device may not be used",
    cause: "The device was revoked, or it did not prove that it holds its key.",
    fix: "Pair the browser anew; the operator looks with `steward devices list`.",
  },
  devices_full: {
    status: 429,
    title: "Too many devices wait for approval",
    cause: "As many devices as allowed wait for approval: 10 in all, 3 from one address.",
    fix: "Approve or reject them (`steward devices list`), or wait 5 minutes.",
  },
  chat_origin_refused: {
    status: 403,
    title: "Another site's page may not open the chat",
    cause: "The connection was not asked for by this service's own page.",
    fix: "Open /chat at this service's own address; a proxy before it must keep the Host header.",
  },
  chat_upgrade_required: {
    status: 426,
    title: "This address is a WebSocket",
    cause: "The request does not ask for a WebSocket.",
    fix: "Open /chat in a browser.",
  },
  chat_too_many: {
    status: 429,
    title: "Too many messages or connections",
    cause: "This device sends faster than allowed, or too many chat pages are connected.",
    fix: "Wait a minute and try again.",
  },
  chat_message_invalid: {
    status: 400,
    title: "The chat message is not valid",
    cause: "The page sent something that is not a message of the web chat's form.",
    fix: "Load the page again.",
  },
  gateway_token_refused: {
    status: 401,
    title: "The gateway token is not valid",
    cause: "The request carries no valid gateway token, or the config sets none.",
    fix: "Set gateway.token in the config, and send it as Authorization: Bearer.",
  },
  stack_config_invalid: {
    status: 500,
    title: "Invalid stack configuration",
    cause: "The stack's configuration has unknown, missing or wrong keys.",
    fix: "Correct each key named below with `pulumi config set`.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** A stable error code. */
export type ErrorCode = keyof typeof ERRORS;

/** Why something is not as it should be, in a form that is safe to show. */
export interface Reason {
  code: ErrorCode;
  detail: string;
  fix: string;
}

/** The reason of a code; `detail` defaults to the code's general cause. */
export function reason(code: ErrorCode, detail: string = ERRORS[code].cause): Reason {
  return { code, detail, fix: ERRORS[code].fix };
}

/** An error with a stable code. Its message is safe to show: it never holds a secret. */
export class StewardError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, detail?: string, options?: ErrorOptions) {
    super(detail ?? ERRORS[code].cause, options);
    this.name = "StewardError";
    this.code = code;
  }

  /** This error as a reason. */
  get reason(): Reason {
    return reason(this.code, this.message);
  }
}
