import type { Platform } from "../delivery.ts";
import type { Environment, VariableName } from "../variables.ts";

type Credentials = Readonly<Record<string, VariableName>>;

/** Credentials that enable a channel: the secret keys of its config section, each with its environment variable. */
export const CHANNEL_CREDENTIALS: Readonly<Record<Platform, Credentials>> = {
  slack: { botToken: "SLACK_BOT_TOKEN", signingSecret: "SLACK_SIGNING_SECRET" },
  telegram: { botToken: "TELEGRAM_BOT_TOKEN" },
  discord: { token: "DISCORD_BOT_TOKEN" },
};
const PLATFORMS = Object.keys(CHANNEL_CREDENTIALS) as Platform[];

/**
 * Completes a parsed config from the environment. Adds each missing channel whose credentials are all set. In
 * existing channels, adds missing references to environment variables. Never replaces an existing key.
 *
 * @returns the completed config, or `value` unchanged if `value` or its `channels` is not an object
 */
export function withCredentials(value: unknown, environment: Environment): unknown {
  if (!isRecord(value)) return value;
  const { channels = {} } = value;
  if (!isRecord(channels)) return value;
  const offered = new Set(channelsWithCredentials(environment));
  const added = PLATFORMS.filter((platform) => offered.has(platform) || platform in channels).map(
    (platform) => [platform, completed(channels[platform], CHANNEL_CREDENTIALS[platform], environment)],
  );
  return { ...value, channels: { ...channels, ...Object.fromEntries(added) } };
}

export function channelsWithCredentials(environment: Readonly<Record<string, unknown>>): Platform[] {
  return PLATFORMS.filter((platform) =>
    Object.values(CHANNEL_CREDENTIALS[platform]).every((name) => environment[name]),
  );
}

/** Returns the missing variables of each channel that has only some of its credentials. */
export function missingCredentials(environment: Environment): Partial<Record<Platform, VariableName[]>> {
  const halves = PLATFORMS.flatMap((platform) => {
    const names = Object.values(CHANNEL_CREDENTIALS[platform]);
    const missing = names.filter((name) => !environment[name]);
    return missing.length === 0 || missing.length === names.length ? [] : [[platform, missing] as const];
  });
  return Object.fromEntries(halves);
}

function completed(section: unknown = {}, credentials: Credentials, environment: Environment): unknown {
  if (!isRecord(section)) return section;
  // The schema requires a disabled channel's credentials too, but their environment variables are not read.
  const isOff = section["enabled"] === false;
  const references = Object.entries(credentials)
    .filter(([, name]) => isOff || environment[name])
    .map(([key, name]) => [key, { env: name }] as const);
  return { ...Object.fromEntries(references), ...section };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
