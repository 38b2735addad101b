import { CHANNEL_CREDENTIALS } from "./credentials.ts";
import { directAddress, SERVICES, withoutSlashes } from "../services.ts";
import type { Environment } from "../variables.ts";

export interface VariableReference {
  /** Such as `channels.slack.botToken`. */
  path: string;
  name: string;
  /** Address, without the query, to which a provider's key is sent. */
  baseUrl?: string | undefined;
}

export function isReference(value: unknown): value is { env: string } {
  if (typeof value !== "object" || value === null) return false;
  if (!("env" in value) || typeof value.env !== "string" || Object.keys(value).length !== 1) return false;
  // A value that is not the name of a variable may be a secret, put here by mistake. Never show it.
  return /^[A-Z][A-Z0-9_]*$/.test(value.env);
}

/**
 * Returns a parsed config's references to variables, except those in disabled sections. The config need not be valid.
 */
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

/** Returns the references to variables in a config's text; none if the text is not JSON. */
export function referencesInText(text: string): VariableReference[] {
  try {
    return references(JSON.parse(text));
  } catch {
    return [];
  }
}

/**
 * The only config path at which each channel credential is allowed. At another path, the credential would be sent to
 * a different service.
 */
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
 * Returns an error message if a service's key is at the wrong config path, else `undefined`. The broker sends each
 * key only to its own service.
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
  // Refuse Anthropic's key at every path, because its built-in provider needs no key in a config.
  if (name !== anthropic.key && (PLACES[name] ?? path) === path) return undefined;
  return misplaced(name, "its own service");
}

function misplaced(name: string, service: string): string {
  return `${name} is only sent to ${service}: store another service's key under another name, with steward:secrets`;
}
