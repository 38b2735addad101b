export type ConfigSection = Record<string, unknown>;

/** An unsupported config key, from an older version of steward or from another gateway's config file. */
export interface DeprecatedKey {
  /** Dotted path of the section; empty for the root. */
  at: string;
  key: string;
  /** Advice on what to write instead. */
  use: string;
  /** Migrates the key's value to its replacement. Without this function the key is dropped. */
  mend?(value: unknown, section: ConfigSection, root: ConfigSection): void;
}

/** Describes a key that was renamed within its section. */
function renamed(at: string, key: string, name: string): DeprecatedKey {
  const path = at === "" ? name : `${at}.${name}`;
  return { at, key, use: `use ${path}`, mend: (value, section) => setMissing(section, [name], value) };
}

function moved(at: string, key: string, path: string): DeprecatedKey {
  return {
    at,
    key,
    use: `use ${path}`,
    mend: (value, _section, root) => setMissing(root, path.split("."), value),
  };
}

/** Describes a key whose value is not migrated. `use` says what to do instead. */
function dropped(at: string, key: string, use: string): DeprecatedKey {
  return { at, key, use };
}

const EVENTS_API = "remove it: Slack sends its events to /slack/events (Events API)";

const DEPRECATED: readonly DeprecatedKey[] = [
  {
    at: "channels.telegram",
    key: "dm",
    use: "use channels.telegram.dmPolicy and allowFrom",
    mend: mendDirectMessages,
  },
  {
    at: "channels.slack",
    key: "dm",
    use: "use channels.slack.dmPolicy and allowFrom",
    mend: mendDirectMessages,
  },
  {
    at: "channels.discord",
    key: "dm",
    use: "use channels.discord.dmPolicy and allowFrom",
    mend: mendDirectMessages,
  },
  renamed("channels.telegram", "groupMode", "groupPolicy"),
  renamed("channels.telegram", "token", "botToken"),
  renamed("channels.slack", "token", "botToken"),
  renamed("channels.discord", "botToken", "token"),
  dropped(
    "channels.telegram",
    "webhookPath",
    "remove it: the path is /telegram-webhook, at the end of webhookUrl",
  ),
  dropped("channels.telegram", "retry", "remove it: steward retries failed requests automatically"),
  dropped("channels.slack", "retry", "remove it: steward retries failed requests automatically"),
  dropped("channels.discord", "retry", "remove it: steward retries failed requests automatically"),
  dropped("channels.slack", "mode", EVENTS_API),
  dropped("channels.slack", "appToken", EVENTS_API),
  dropped("channels.slack", "webhookPath", EVENTS_API),
  {
    at: "channels.slack",
    key: "requireMention",
    use: 'use channels.slack.channels."*".requireMention',
    mend: (value, section) => setMissing(section, ["channels", "*", "requireMention"], value),
  },
  { at: "agent", key: "model", use: "use models.primary", mend: mendModel },
  { at: "models", key: "default", use: "use models.primary", mend: mendModel },
  {
    at: "",
    key: "agents",
    use: "use agent and models.primary",
    mend: (value, _section, root) => mendModel(at(value, "defaults", "model"), root, root),
  },
  renamed("", "session", "sessions"),
  dropped("", "cron", "use schedules"),
  { at: "gateway", key: "auth", use: "use gateway.token", mend: mendGatewayToken },
  dropped("gateway", "port", "use the variable GATEWAY_PORT"),
  dropped("gateway", "bind", "use the variable STEWARD_BIND"),
  dropped("gateway", "mode", "remove it"),
  moved("", "telegram", "channels.telegram"),
  moved("", "slack", "channels.slack"),
  moved("", "discord", "channels.discord"),
  renamed("logging", "logLevel", "level"),
];

export function deprecatedKey(section: string, key: string): DeprecatedKey | undefined {
  return DEPRECATED.find((one) => one.at === section && one.key === key);
}

/** Returns the nested property at the path `keys`, or `undefined` if there is none. Considers only own properties. */
function at(value: unknown, ...keys: string[]): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  return isSection(value) && Object.hasOwn(value, key) ? at(value[key], ...rest) : undefined;
}

export function isSection(value: unknown): value is ConfigSection {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a value at a path in a section. Keeps an existing value, because it was written for this version. */
function setMissing(section: ConfigSection, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined || value === undefined) return;
  if (rest.length === 0) {
    if (!Object.hasOwn(section, key)) section[key] = value;
    return;
  }
  if (!Object.hasOwn(section, key)) section[key] = {};
  const next = section[key];
  if (isSection(next)) setMissing(next, rest, value);
}

function mendDirectMessages(value: unknown, section: ConfigSection): void {
  setMissing(section, ["allowFrom"], at(value, "allowFrom"));
  setMissing(section, ["dmPolicy"], at(value, "enabled") === false ? "disabled" : at(value, "policy"));
}

// Older config files name Anthropic's models without the prefix `anthropic/`.
function mendModel(value: unknown, _section: ConfigSection, root: ConfigSection): void {
  const model = typeof value === "string" ? value : at(value, "primary");
  if (typeof model !== "string") return;
  setMissing(root, ["models", "primary"], model.includes("/") ? model : `anthropic/${model}`);
}

function mendGatewayToken(value: unknown, section: ConfigSection): void {
  setMissing(section, ["token"], at(value, "token"));
}
