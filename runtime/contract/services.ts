import { AGENT, VERSION } from "./names.ts";
import { SECRET_NAMES, type Environment, type VariableName } from "./variables.ts";

interface Service {
  readonly key: VariableName;
  /** Variable that overrides the address. */
  readonly address: VariableName;
  /** Default address, without a trailing slash. */
  readonly own: string;
  /**
   * Name of the header with the key, and the prefix of the header's value. Telegram's header is only for the broker,
   * because Telegram itself takes the key from the URL.
   */
  readonly header: readonly [name: string, before: string];
  readonly headers: Readonly<Record<string, string>>;
}

const USER_AGENT = `${AGENT}/${VERSION}`;
const BEARER = ["authorization", "Bearer "] as const;

/** Services for which a deployment has keys. Each key is sent to its own service only. */
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

export type ServiceName = keyof typeof SERVICES;

/** Environment variable that gives the gateway the broker's address, without a trailing slash. */
export const BROKER_VARIABLE = "STEWARD_BROKER_URL";

/** Header that names the HTTP proxy through which the broker sends the request. */
export const PROXY_HEADER = "steward-proxy";

export const BROKER_PATH = "/broker";

/**
 * Returns the gateway's environment with steward's own secrets, but not the operator's, replaced by broker passes.
 * Returns the environment unchanged if {@link BROKER_VARIABLE} is not set.
 *
 * @param token must not contain a colon or a slash.
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

/**
 * Returns the pass in the format of a bot token: the bot's id, a colon and `token`. The gateway recognises mentions
 * by the id.
 */
function telegramPass(botToken: string, token: string): string {
  return `${botToken.split(":", 1)[0]}:${token}`;
}

/**
 * Returns the broker pass in a token variable's value. In Telegram's value, the bot's id and a colon precede the
 * pass.
 */
export function passOf(value: string): string {
  return value.slice(value.indexOf(":") + 1);
}

/** Returns the header that authenticates a request to a service or to the broker. */
export function credential(name: ServiceName, key: string): Record<string, string> {
  const [header, before] = SERVICES[name].header;
  return { [header]: `${before}${key}` };
}

/** Returns the address of the service itself, never the broker's, without a trailing slash. */
export function directAddress(name: ServiceName, environment: Environment): string {
  const { address, own } = SERVICES[name];
  const root = withoutSlashes(environment[address] || own);
  // Remove a trailing `/v1`, because the paths of Anthropic's operations already begin with it.
  return name === "anthropic" && root.endsWith("/v1") ? root.slice(0, -3) : root;
}

/** Returns true if a key is a broker pass instead of the service's own key. */
export function isPass(name: ServiceName, key: string, environment: Environment): boolean {
  return environment[BROKER_VARIABLE] !== undefined && key !== "" && key === environment[SERVICES[name].key];
}

/**
 * Returns the address to use with a key, without a trailing slash: the broker's for a broker pass, otherwise the
 * service's.
 */
export function serviceAddress(name: ServiceName, key: string, environment: Environment): string {
  if (isPass(name, key, environment)) return `${environment[BROKER_VARIABLE]}/${name}`;
  return directAddress(name, environment);
}

/** Removes trailing slashes. */
export function withoutSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end -= 1;
  return address.slice(0, end);
}
