import { SECRET_NAMES, type Environment, type VariableName } from "./variables.ts";

interface Service {
  /** The variable that holds its key. */
  readonly key: VariableName;
  /** The variable that holds another address than its own. */
  readonly address: VariableName;
  /** Without a slash at the end. */
  readonly own: string;
}

/** The services that a deployment has a key for. A key goes to its own service and nowhere else. */
export const SERVICES = {
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL", own: "https://api.anthropic.com" },
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL", own: "https://api.openai.com/v1" },
  telegram: { key: "TELEGRAM_BOT_TOKEN", address: "TELEGRAM_API_ROOT", own: "https://api.telegram.org" },
  slack: { key: "SLACK_BOT_TOKEN", address: "SLACK_API_URL", own: "https://slack.com/api" },
  discord: { key: "DISCORD_BOT_TOKEN", address: "DISCORD_API_URL", own: "https://discord.com/api/v10" },
} as const satisfies Record<string, Service>;

/** The name of a service. */
export type ServiceName = keyof typeof SERVICES;

/** The gateway's variable with the broker's address, without a slash at the end. */
export const BROKER_VARIABLE = "STEWARD_BROKER_URL";

/** The header that names the HTTP proxy which a request to the broker is to go through. */
export const PROXY_HEADER = "steward-proxy";

/** Place where the edge serves the broker. */
export const BROKER_PATH = "/broker";

/**
 * Returns a gateway's environment with a pass in place of each secret of steward's own, which the broker alone takes.
 * One without {@link BROKER_VARIABLE} is returned as it is. The operator's own secrets stay: the config says what for.
 *
 * @param token without a colon or a slash.
 */
export function withPasses<Values extends Environment>(environment: Values, token: string): Values {
  if (environment[BROKER_VARIABLE] === undefined) return environment;
  const passes = SECRET_NAMES.flatMap((name) => {
    const value = environment[name];
    if (!value) return [];
    return [[name, name === SERVICES.telegram.key ? telegramPass(value, token) : token]];
  });
  return { ...environment, ...Object.fromEntries(passes) };
}

/** A bot knows itself in what others write by its id, which its token begins with. */
function telegramPass(botToken: string, token: string): string {
  return `${botToken.split(":", 1)[0]}:${token}`;
}

/** Returns the address that a service has without a broker, without a slash at the end. */
export function directAddress(name: ServiceName, environment: Environment): string {
  const { address, own } = SERVICES[name];
  const root = withoutSlashes(environment[address] || own);
  // Given with or without it; Anthropic's clients add it themselves.
  return name === "anthropic" && root.endsWith("/v1") ? root.slice(0, -3) : root;
}

/** Tells whether a key is a pass, which the broker takes, and not the service. */
export function isPass(name: ServiceName, key: string, environment: Environment): boolean {
  return environment[BROKER_VARIABLE] !== undefined && key !== "" && key === environment[SERVICES[name].key];
}

/** Returns where a service takes this key, without a slash at the end: at the broker, if the key is a pass for it. */
export function serviceAddress(name: ServiceName, key: string, environment: Environment): string {
  if (isPass(name, key, environment)) return `${environment[BROKER_VARIABLE]}/${name}`;
  return directAddress(name, environment);
}

/** Removes the slashes at the end of an address. */
export function withoutSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end -= 1;
  return address.slice(0, end);
}

/**
 * Tells whether Slack's key may be sent to an address of a file: to Slack's own hosts, and to where its API is.
 * https://docs.slack.dev/reference/objects/file-object#authentication
 */
export function isSlackFile(url: URL, environment: Environment): boolean {
  if (url.protocol === "https:" && (url.hostname === "slack.com" || url.hostname.endsWith(".slack.com")))
    return true;
  return url.origin === new URL(directAddress("slack", environment)).origin;
}
