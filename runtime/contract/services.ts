import { AGENT, VERSION } from "./names.ts";
import { SECRET_NAMES, type Environment, type VariableName } from "./variables.ts";

interface Service {
  /** The variable that holds its key. */
  readonly key: VariableName;
  /** The variable that holds another address than its own. */
  readonly address: VariableName;
  /** Without a slash at the end. */
  readonly own: string;
  /** The header that holds the key, and what stands before it there. Telegram takes only a pass there. */
  readonly header: readonly [name: string, before: string];
  /** Further headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
}

const USER_AGENT = `${AGENT}/${VERSION}`;
const BEARER = ["authorization", "Bearer "] as const;

/** The services that a deployment has a key for. A key goes to its own service and nowhere else. */
export const SERVICES = {
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    address: "ANTHROPIC_BASE_URL",
    own: "https://api.anthropic.com",
    header: ["x-api-key", ""],
    headers: { "anthropic-version": "2023-06-01", "user-agent": USER_AGENT },
  },
  openai: {
    key: "OPENAI_API_KEY",
    address: "OPENAI_BASE_URL",
    own: "https://api.openai.com/v1",
    header: BEARER,
    headers: { "user-agent": USER_AGENT },
  },
  telegram: {
    key: "TELEGRAM_BOT_TOKEN",
    address: "TELEGRAM_API_ROOT",
    own: "https://api.telegram.org",
    header: BEARER,
    headers: { "user-agent": USER_AGENT },
  },
  slack: {
    key: "SLACK_BOT_TOKEN",
    address: "SLACK_API_URL",
    own: "https://slack.com/api",
    header: BEARER,
    headers: { "user-agent": USER_AGENT },
  },
  discord: {
    key: "DISCORD_BOT_TOKEN",
    address: "DISCORD_API_URL",
    own: "https://discord.com/api/v10",
    header: ["authorization", "Bot "],
    /** Discord refuses requests without it: https://docs.discord.com/developers/reference#user-agent */
    headers: { "user-agent": `DiscordBot (${AGENT}, ${VERSION})` },
  },
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

/** Returns the pass in a variable of {@link withPasses}. */
export function passOf(value: string): string {
  return value.slice(value.indexOf(":") + 1);
}

/** Returns the header by which a service, or the broker in its place, knows who asks. */
export function credential(name: ServiceName, key: string): Record<string, string> {
  const [header, before] = SERVICES[name].header;
  return { [header]: `${before}${key}` };
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
