import { CHANNEL_CREDENTIALS } from "./credentials.ts";
import { directAddress, SERVICES, withoutSlashes } from "../services.ts";
import type { Environment } from "../variables.ts";

/** A reference to an environment variable in a config. */
export interface VariableReference {
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
  // Anything else under `env` may be a secret that was put there by mistake, not a name to show.
  return /^[A-Z][A-Z0-9_]*$/.test(value.env);
}

/** Collects the references of a parsed config, valid or not, but for those in a section that is switched off. */
export function references(value: unknown, path: string[] = [], baseUrl?: string): VariableReference[] {
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
export function referencesInText(text: string): VariableReference[] {
  try {
    return references(JSON.parse(text));
  } catch {
    return [];
  }
}

/** The one place of each key that the deployment has for a channel. Elsewhere it would be sent to somebody else. */
const PLACES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(CHANNEL_CREDENTIALS).flatMap(([channel, credentials]) =>
      Object.entries(credentials).map(([key, name]) => [name, `channels.${channel}.${key}`]),
    ),
  ),
  TELEGRAM_WEBHOOK_SECRET: "channels.telegram.webhookSecret",
};
const PROVIDER_KEY = /^models\.(?:providers\.[^.]+|transcription)\.apiKey$/;

/**
 * Returns why a service's key may not stand where a config has it, or nothing. Each key goes to its own service: the
 * broker sends it nowhere else, and this says so before a message needs it.
 */
export function misplacedKey(
  { path, name, baseUrl }: VariableReference,
  environment: Environment,
): string | undefined {
  const { anthropic, openai } = SERVICES;
  if (name === openai.key) {
    const own = directAddress("openai", environment);
    if (PROVIDER_KEY.test(path) && withoutSlashes(baseUrl ?? "") === own) return undefined;
    return misplaced(name, own);
  }
  // Anthropic is built in, so no config has its key.
  if (name !== anthropic.key && (PLACES[name] ?? path) === path) return undefined;
  return misplaced(name, "its own service");
}

function misplaced(name: string, service: string): string {
  return `${name} is sent to ${service} alone: store the key for another one under a name of its own, with steward:secrets`;
}
