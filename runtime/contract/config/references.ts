import { directAddress, SERVICES, withoutSlashes } from "../services.ts";
import type { Environment } from "../variables.ts";

/** A reference to an environment variable in a config. */
export interface Reference {
  /** Its place, such as `channels.slack.botToken`. */
  path: string;
  /** The variable. */
  name: string;
  /** Of a provider's key, where it is sent: the address without a query. */
  baseUrl?: string | undefined;
}

/** Tells whether a value of a config is a reference to a variable. */
export function isReference(value: unknown): value is { env: string } {
  if (typeof value !== "object" || value === null) return false;
  if (!("env" in value) || typeof value.env !== "string" || Object.keys(value).length !== 1) return false;
  // Anything else under `env` may be a secret that was put there, and no name that may be told.
  return /^[A-Z][A-Z0-9_]*$/.test(value.env);
}

/** Collects the references of a parsed config, valid or not, but for those in a section that is switched off. */
export function references(value: unknown, path: string[] = [], baseUrl?: string): Reference[] {
  if (typeof value !== "object" || value === null) return [];
  if ("enabled" in value && value.enabled === false) return [];
  if (isReference(value)) return [{ path: path.join("."), name: value.env, ...(baseUrl && { baseUrl }) }];
  const address = "baseUrl" in value ? withoutQuery(value.baseUrl) : undefined;
  return Object.entries(value).flatMap(([key, item]) => references(item, [...path, key], address));
}

function withoutQuery(address: unknown): string | undefined {
  if (typeof address !== "string" || !URL.canParse(address)) return undefined;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/** Collects the references of a config's text. A text that is not JSON has none. */
export function referencesInText(text: string): Reference[] {
  try {
    return references(JSON.parse(text));
  } catch {
    return [];
  }
}

/** The places of the keys that a deployment has for a service. Elsewhere they would be sent to somebody else. */
const PLACES: Readonly<Record<string, RegExp>> = {
  TELEGRAM_BOT_TOKEN: /^channels\.telegram\.botToken$/,
  TELEGRAM_WEBHOOK_SECRET: /^channels\.telegram\.webhookSecret$/,
  SLACK_BOT_TOKEN: /^channels\.slack\.botToken$/,
  SLACK_SIGNING_SECRET: /^channels\.slack\.signingSecret$/,
  DISCORD_BOT_TOKEN: /^channels\.discord\.token$/,
  OPENAI_API_KEY: /^models\.providers\.[^.]+\.apiKey$/,
  ANTHROPIC_API_KEY: /^$/,
};

/**
 * Returns why a service's key may not stand where a config has it, or nothing. Each key goes to its own service: the
 * broker sends it nowhere else, and this says so before a message needs it.
 */
export function misplacedKey(
  { path, name, baseUrl }: Reference,
  environment: Environment,
): string | undefined {
  const place = PLACES[name];
  if (place === undefined) return undefined;
  const own = name === SERVICES.openai.key ? directAddress("openai", environment) : undefined;
  const isElsewhere = own !== undefined && withoutSlashes(baseUrl ?? "") !== own;
  if (place.test(path) && !isElsewhere) return undefined;
  const service = own === undefined ? "its own service" : own;
  return `${name} is sent to ${service} alone: store the key for another one under a name of its own, with steward:secrets`;
}
