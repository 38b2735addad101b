import { PROPERTIES, SECRET_ARGUMENTS } from "../../infra/gateway/properties.ts";
import type { Wording } from "../../infra/gateway/problem.ts";
import type { Target } from "../../infra/gateway/args.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";

export const NAMESPACE = "steward:";

/** Argument paths by configuration key. A key that is not listed is itself the argument's path. */
const PATHS: Readonly<Record<string, string>> = {
  anthropicApiKey: "models.anthropicApiKey",
  openaiApiKey: "models.openaiApiKey",
  slackBotToken: "slack.botToken",
  slackSigningSecret: "slack.signingSecret",
  slackAppId: "slack.appId",
  slackConfigToken: "slack.configToken",
  telegramBotToken: "telegram.botToken",
  telegramWebhookSecret: "telegram.webhookSecret",
  discordBotToken: "discord.botToken",
  discordApplicationId: "discord.applicationId",
  discordPublicKey: "discord.publicKey",
  teamDomain: "access.teamDomain",
  operators: "access.operators",
  audience: "access.audience",
  docker: "dockerHost",
  hostPort: "port",
  hostAddress: "address",
  hostDataDirectory: "dataDirectory",
};
/** Matches arguments that are set by `cloudflare:*` keys or by the program, not by `steward:` keys. */
const UNSET = /^(?:cloudflare\.|containerName$|volumeName$)/;
const KEYS = Object.fromEntries(Object.entries(PATHS).map(([key, path]) => [path, key]));

/** Without the namespace. */
export const TARGET_KEYS: Record<Target, readonly string[]> = {
  serverless: ["target", "telegramUpdates", ...keysOf("serverless")],
  host: ["target", ...keysOf("host")],
};

function keysOf(target: Target): string[] {
  return Object.keys(PROPERTIES[target])
    .filter((path) => !UNSET.test(path))
    .map((path) => KEYS[path] ?? path);
}

export function pathOf(key: string): string {
  return PATHS[key] ?? key;
}

const SECRET_PATHS: readonly string[] = [...Object.values(SECRET_ARGUMENTS), "slack.configToken", "secrets"];

export function isSecretKey(key: string): boolean {
  return SECRET_PATHS.includes(pathOf(key));
}

/** Returns the wording that messages use for configuration keys: their names, and the commands that change them. */
export function keyWording({ configSet, configRemove }: OperatorCommands): Wording {
  const keyOf = (path: string): string => KEYS[path] ?? path;
  const name = (path: string): string => NAMESPACE + keyOf(path);
  return {
    name,
    set: (path, value) => {
      // A PEM key has several lines, so the command reads it from a file.
      if (path === "imagePublicKey") return configSet(name(path), "cosign.pub", { file: true });
      return configSet(name(path), value ?? "<value>", { secret: isSecretKey(keyOf(path)) });
    },
    remove: (path, member) =>
      member === undefined
        ? configRemove(name(path))
        : configRemove(`${name(path)}.${member}`, { path: true }),
    quote: (command) => `\`${command}\``,
  };
}
