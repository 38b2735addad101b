type Reader = "edge" | "gateway" | "both";

interface Variable {
  readonly reader: Reader;
  readonly secret: boolean;
}

/** Variables that a stack sets for the runtime, with the process that reads each one. */
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
 * Returns a phrase that completes "the value …" if the value was probably copied incorrectly; otherwise, `undefined`.
 * The phrase does not quote the value.
 */
export function formProblem(value: string): string | undefined {
  if (/[\r\n]$/.test(value)) return "ends with a line break: remove it";
  if (/^\s|\s$/.test(value)) return "begins or ends with white space: remove it";
  if (/^(["'])[^]*\1$/.test(value))
    return "is in quotation marks, which count as part of it here: remove them";
  const isHidden = [...value].some((character) => /[\p{Cc}\p{Cf}]/u.test(character));
  return isHidden ? "contains an invisible character: type it again" : undefined;
}

/** Returns steward's own variables with trimmed values. Values from an environment file may carry white space. */
export function trimmedVariables(environment: Environment): Environment {
  return Object.fromEntries(
    Object.keys(VARIABLES).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value.trim()]];
    }),
  );
}

/** Pattern for the names of variables that operators add, such as another model provider's key. */
const OWN_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
/** Names of variables that operators must not add, because processes or the platform already use them. */
const RESERVED =
  /^(?:STEWARD_.*|NODE_.*|LD_.*|MALLOC_.*|SSL_.*|GLIBC_.*|(?:.*_)?PORT|PATH|HOME|SHELL|USER|TZ|LANG|LC_.*|IFS|ENV|BASH_ENV|SANDBOX|DIRECTORY|STATE|VERSION)$/;

/** Returns why the operator cannot add a variable of this name, or `undefined` if it is allowed. */
export function ownNameProblem(name: string): string | undefined {
  if (!OWN_NAME.test(name)) return "must be 1 to 64 capital letters, digits and _, and begin with a letter";
  if (Object.hasOwn(VARIABLES, name))
    return "is one of steward's own variables: use its own configuration key";
  return RESERVED.test(name) ? "is reserved, or read by the system" : undefined;
}

/**
 * Returns the sorted names of the operator's own variables. If `secretOnly` is true, returns only the names of
 * secrets.
 */
export function ownNames(environment: Environment, { secretOnly = false } = {}): string[] {
  const lists = [
    environment["STEWARD_OWN_SECRETS"],
    ...(secretOnly ? [] : [environment["STEWARD_OWN_VARIABLES"]]),
  ];
  const names = lists.flatMap((list) => (list ?? "").split(","));
  return [...new Set(names)].filter((name) => name !== "" && ownNameProblem(name) === undefined).sort();
}

export const SECRET_NAMES = (Object.keys(VARIABLES) as VariableName[]).filter(
  (name) => VARIABLES[name].secret,
);

/** Returns the names of all secrets: steward's, the operator's own, and the control token. */
export function secretNames(environment: Environment): string[] {
  return [...SECRET_NAMES, ...ownNames(environment, { secretOnly: true }), CONTROL_TOKEN_VARIABLE];
}

/** Returns the container's variables: the gateway's and those that the operator added. Omits empty ones. */
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
 * Variable with the control token, which edge, supervisor and gateway share. Each start of the container creates a new
 * token.
 */
export const CONTROL_TOKEN_VARIABLE = "STEWARD_CONTROL_TOKEN";

/** Variable that the stack sets to the hash of the Worker's bundle. Containers do not use this variable. */
export const BUNDLE_VARIABLE = "STEWARD_BUNDLE";

/**
 * Variable with the container's tenant id, set if each chat has its own container. The container that serves browsers,
 * operators and everything else has the id {@link REST_TENANT}.
 */
export const TENANT_VARIABLE = "STEWARD_TENANT";

export const REST_TENANT = "rest";

/**
 * Variable with the path of a config file outside the data directory. On a host, this file is the deployment's
 * config, which tenants' gateways can read but not write.
 */
export const CONFIG_VARIABLE = "STEWARD_CONFIG";

/** Variable that, if it is `true`, delays the gateway's start until the first `/restore` request. */
export const AWAIT_RESTORE_VARIABLE = "STEWARD_AWAIT_RESTORE";
