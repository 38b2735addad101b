/** Who reads a variable: the edge, the container's gateway, or both. */
type Reader = "edge" | "gateway" | "both";

interface Variable {
  readonly reader: Reader;
  readonly secret: boolean;
}

/** The variables that a stack writes and the runtime reads. */
export const VARIABLES = {
  ANTHROPIC_API_KEY: { reader: "gateway", secret: true },
  ANTHROPIC_BASE_URL: { reader: "gateway", secret: false },
  OPENAI_API_KEY: { reader: "gateway", secret: true },
  OPENAI_BASE_URL: { reader: "gateway", secret: false },
  TELEGRAM_BOT_TOKEN: { reader: "gateway", secret: true },
  TELEGRAM_WEBHOOK_SECRET: { reader: "both", secret: true },
  TELEGRAM_API_ROOT: { reader: "gateway", secret: false },
  TELEGRAM_DM_POLICY: { reader: "gateway", secret: false },
  SLACK_BOT_TOKEN: { reader: "gateway", secret: true },
  SLACK_SIGNING_SECRET: { reader: "both", secret: true },
  SLACK_API_URL: { reader: "gateway", secret: false },
  DISCORD_APPLICATION_ID: { reader: "gateway", secret: false },
  DISCORD_PUBLIC_KEY: { reader: "edge", secret: false },
  DISCORD_BOT_TOKEN: { reader: "gateway", secret: true },
  DISCORD_API_URL: { reader: "gateway", secret: false },
  EDGE_ACCESS_TEAM_DOMAIN: { reader: "edge", secret: false },
  EDGE_ACCESS_AUD: { reader: "edge", secret: false },
  SANDBOX_SLEEP_AFTER: { reader: "edge", secret: false },
  PUBLIC_WEBHOOKS: { reader: "edge", secret: false },
  CONFIG_RECOVERY: { reader: "edge", secret: false },
  ADMIN_TOKEN: { reader: "edge", secret: true },
  ATTESTATION_KEY: { reader: "edge", secret: true },
  LOG_LEVEL: { reader: "both", secret: false },
} as const satisfies Record<string, Variable>;

/** The name of a variable. */
export type VariableName = keyof typeof VARIABLES;

/** An environment as a process or a Worker receives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variable that carries the control token into the container. Edge, supervisor and gateway
 * share it; each start of the container has its own.
 */
export const CONTROL_TOKEN_VARIABLE = "STEWARD_CONTROL_TOKEN";

/** What a stack calls the bundle that it deploys as the Worker; a container's bundle says it itself. */
export const BUNDLE_VARIABLE = "STEWARD_BUNDLE";

/** Set to `true` for a supervisor that is given its data first: it starts the gateway after the first `/restore`. */
export const AWAIT_RESTORE_VARIABLE = "STEWARD_AWAIT_RESTORE";
