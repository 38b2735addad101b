type Reader = "edge" | "gateway" | "both";

interface Variable {
  readonly reader: Reader;
  readonly secret: boolean;
}

/** Variables that a stack sets for the runtime. */
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
  REPLAY_EVENTS: { reader: "edge", secret: false },
  TENANCY: { reader: "edge", secret: false },
  MAX_SANDBOXES: { reader: "edge", secret: false },
  CANARY_TENANTS: { reader: "edge", secret: false },
  ALERTS: { reader: "edge", secret: true },
  ENVIRONMENT_NAME: { reader: "edge", secret: false },
  PUBLIC_ORIGIN: { reader: "edge", secret: false },
  ADMIN_TOKEN: { reader: "edge", secret: true },
  ATTESTATION_KEY: { reader: "edge", secret: true },
  LOG_LEVEL: { reader: "both", secret: false },
  STEWARD_OWN_SECRETS: { reader: "both", secret: false },
  STEWARD_OWN_VARIABLES: { reader: "both", secret: false },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;

export type SecretVariable = {
  [Name in VariableName]: (typeof VARIABLES)[Name]["secret"] extends true ? Name : never;
}[VariableName];

export type EdgeVariable = {
  [Name in VariableName]: (typeof VARIABLES)[Name]["reader"] extends "gateway" ? never : Name;
}[VariableName];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns why a value looks copied or quoted by mistake (from a file of variables, `$(cat file)` or a web page), or
 * `undefined`. The text completes "the value …" and does not reveal the value.
 */
export function formProblem(value: string): string | undefined {
  if (/[\r\n]$/.test(value)) return "ends with a line break: remove it";
  if (/^\s|\s$/.test(value)) return "begins or ends with white space: remove it";
  if (/^(["'])[^]*\1$/.test(value))
    return "is in quotation marks, which count as part of it here: remove them";
  const isHidden = [...value].some((character) => /[\p{Cc}\p{Cf}]/u.test(character));
  return isHidden ? "contains an invisible character: type it again" : undefined;
}

/** Returns steward's own variables without white space around the values, which files of variables may leave. */
export function trimmedVariables(environment: Environment): Environment {
  return Object.fromEntries(
    Object.keys(VARIABLES).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value.trim()]];
    }),
  );
}

/** Pattern for names of the operator's own variables, such as another provider's key, which the config can refer to. */
const OWN_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
/** Names that processes and platforms read themselves, so setting one would have side effects. */
const RESERVED =
  /^(?:STEWARD_.*|NODE_.*|LD_.*|MALLOC_.*|SSL_.*|GLIBC_.*|(?:.*_)?PORT|PATH|HOME|SHELL|USER|TZ|LANG|LC_.*|IFS|ENV|BASH_ENV|SANDBOX|DIRECTORY|STATE|VERSION)$/;

/** Returns why the operator cannot add a variable of this name, or `undefined`. */
export function ownNameProblem(name: string): string | undefined {
  if (!OWN_NAME.test(name)) return "must be 1 to 64 capital letters, digits and _, and begin with a letter";
  if (Object.hasOwn(VARIABLES, name))
    return "is one of steward's own variables: use its own configuration key";
  return RESERVED.test(name) ? "is reserved, or read by the system" : undefined;
}

/** Returns the sorted names of the operator's own variables; with `secretOnly`, only of the secrets. */
export function ownNames(environment: Environment, { secretOnly = false } = {}): string[] {
  const lists = [
    environment["STEWARD_OWN_SECRETS"],
    ...(secretOnly ? [] : [environment["STEWARD_OWN_VARIABLES"]]),
  ];
  const names = lists.flatMap((list) => (list ?? "").split(","));
  return [...new Set(names)].filter((name) => name !== "" && ownNameProblem(name) === undefined).sort();
}

/** Names of steward's own secrets. */
export const SECRET_NAMES = (Object.keys(VARIABLES) as VariableName[]).filter(
  (name) => VARIABLES[name].secret,
);

/** Returns the names of all secrets: steward's, the operator's own, and the control token. */
export function secretNames(environment: Environment): string[] {
  return [...SECRET_NAMES, ...ownNames(environment, { secretOnly: true }), CONTROL_TOKEN_VARIABLE];
}

/** Returns the variables for the container: the gateway's and the operator's own, without empty ones. */
export function gatewayVariables(environment: Environment): Record<string, string> {
  const names = (Object.keys(VARIABLES) as VariableName[]).filter(
    (name) => VARIABLES[name].reader !== "edge",
  );
  return Object.fromEntries(
    [...names, ...ownNames(environment)].flatMap((name) => {
      const value = environment[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

/**
 * Variable with the control token, which edge, supervisor and gateway share. Each start of the container has a new one.
 */
export const CONTROL_TOKEN_VARIABLE = "STEWARD_CONTROL_TOKEN";

/** Variable with the hash of the Worker's bundle, set by the stack. A container reads it from its bundle instead. */
export const BUNDLE_VARIABLE = "STEWARD_BUNDLE";

/**
 * Variable with the id of the container's tenant if each chat has its own container. {@link REST_TENANT} serves
 * browsers, operators and everything else.
 */
export const TENANT_VARIABLE = "STEWARD_TENANT";

export const REST_TENANT = "rest";

/**
 * Variable with the path of a config file outside of the data directory. On a host, the gateways of single chats read
 * the deployment's config there and cannot write it.
 */
export const CONFIG_VARIABLE = "STEWARD_CONFIG";

/** If `true`, the supervisor waits for its data: it starts the gateway after the first `/restore`. */
export const AWAIT_RESTORE_VARIABLE = "STEWARD_AWAIT_RESTORE";
