/** Reader of a variable: the edge, the container's gateway, or both. */
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

/** The name of a variable. */
export type VariableName = keyof typeof VARIABLES;

/** The name of a variable that holds a secret. */
export type SecretVariable = {
  [Name in VariableName]: (typeof VARIABLES)[Name]["secret"] extends true ? Name : never;
}[VariableName];

/** The name of a variable that the edge reads. */
export type EdgeVariable = {
  [Name in VariableName]: (typeof VARIABLES)[Name]["reader"] extends "gateway" ? never : Name;
}[VariableName];

/** An environment as a process or a Worker receives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns what is wrong with the form of a value, as files of variables, `$(cat file)` and a copy from a web page leave
 * it; the end of a sentence about it, which does not show it. `undefined`: nothing.
 */
export function formProblem(value: string): string | undefined {
  if (/[\r\n]$/.test(value)) return "ends with the end of a line: give it without that character";
  if (/^\s|\s$/.test(value)) return "begins or ends with white space: give it without";
  if (/^(["'])[^]*\1$/.test(value))
    return "is in quotation marks, which are part of it here: give it without";
  const isHidden = [...value].some((character) => /[\p{Cc}\p{Cf}]/u.test(character));
  return isHidden ? "holds a character that is not seen: type it anew" : undefined;
}

/** Returns steward's own variables, without the blanks and line ends around a value that files of variables leave. */
export function trimmedVariables(environment: Environment): Environment {
  return Object.fromEntries(
    Object.keys(VARIABLES).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value.trim()]];
    }),
  );
}

/** Names of variables that the operator adds, such as another provider's key, for the config to refer to. */
const OWN_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
/** Names that processes and platforms read themselves; setting one of these changes more than a config. */
const RESERVED =
  /^(?:STEWARD_.*|NODE_.*|LD_.*|MALLOC_.*|SSL_.*|GLIBC_.*|(?:.*_)?PORT|PATH|HOME|SHELL|USER|TZ|LANG|LC_.*|IFS|ENV|BASH_ENV|SANDBOX|DIRECTORY|STATE|VERSION)$/;

/** Returns why a name cannot be that of a variable of the operator's own, or nothing. */
export function ownNameProblem(name: string): string | undefined {
  if (!OWN_NAME.test(name)) return "must be 1 to 64 capital letters, digits and _, and begin with a letter";
  if (Object.hasOwn(VARIABLES, name)) return "is a variable of steward's own, which has a key of its own";
  return RESERVED.test(name) ? "is read by the system, or reserved" : undefined;
}

/** Returns the names of the operator's own variables, as the environment lists them: all, or the secret ones. */
export function ownNames(environment: Environment, { secretOnly = false } = {}): string[] {
  const lists = [
    environment["STEWARD_OWN_SECRETS"],
    ...(secretOnly ? [] : [environment["STEWARD_OWN_VARIABLES"]]),
  ];
  const names = lists.flatMap((list) => (list ?? "").split(","));
  return [...new Set(names)].filter((name) => name !== "" && ownNameProblem(name) === undefined).sort();
}

/** The names of steward's own variables that hold a secret. */
export const SECRET_NAMES = (Object.keys(VARIABLES) as VariableName[]).filter(
  (name) => VARIABLES[name].secret,
);

/** Returns the names of all variables that hold a secret: steward's, the operator's own, the control token. */
export function secretNames(environment: Environment): string[] {
  return [...SECRET_NAMES, ...ownNames(environment, { secretOnly: true }), CONTROL_TOKEN_VARIABLE];
}

/**
 * Returns the part of an environment that goes into the container: the gateway's variables and the operator's own.
 * Empty values are left out.
 */
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
 * The variable that carries the control token into the container. Edge, supervisor and gateway
 * share it; each start of the container has its own.
 */
export const CONTROL_TOKEN_VARIABLE = "STEWARD_CONTROL_TOKEN";

/** Variable in which a stack names the bundle that it deploys as the Worker; a container's bundle says it itself. */
export const BUNDLE_VARIABLE = "STEWARD_BUNDLE";

/**
 * Variable with the id of the tenant that a container serves, where each chat has one of its own. The container that
 * serves the rest, browsers and operators, has {@link REST_TENANT}.
 */
export const TENANT_VARIABLE = "STEWARD_TENANT";

/** See {@link TENANT_VARIABLE}. */
export const REST_TENANT = "rest";

/**
 * Variable with the path of the config file, where the data directory has none: on a host all chats' gateways read that
 * of the deployment. They cannot write it.
 */
export const CONFIG_VARIABLE = "STEWARD_CONFIG";

/** Set to `true` for a supervisor that is given its data first: it starts the gateway after the first `/restore`. */
export const AWAIT_RESTORE_VARIABLE = "STEWARD_AWAIT_RESTORE";
