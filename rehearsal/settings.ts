import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { createDiscordKey } from "./standins/discord-key.ts";
import { freePorts } from "./ports.ts";

const SERVERS = ["api", "front", "identity", "slack", "telegram", "discord", "model"] as const;

const schema = z.strictObject({
  accountId: z.string(),
  apiToken: z.string(),
  passphrase: z.string(),
  ports: z.record(z.enum(SERVERS), z.int()),
  secrets: z.strictObject({
    slackBotToken: z.string(),
    slackSigningSecret: z.string(),
    telegramBotToken: z.string(),
    telegramWebhookSecret: z.string(),
    discordBotToken: z.string(),
    discordPublicKey: z.string(),
    discordPrivateKey: z.string(),
    discordApplicationId: z.string(),
    anthropicApiKey: z.string(),
    adminToken: z.string(),
  }),
});

/** Ports and keys of a rehearsal. Later runs reuse them, so that a second deployment shows no change. */
export type RehearsalSettings = z.infer<typeof schema>;

/** Reads or creates the settings, which contain no real keys. */
export async function readRehearsalSettings(dir: string): Promise<RehearsalSettings> {
  const file = path.join(dir, "rehearsal.json");
  if (existsSync(file)) {
    const kept = schema.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (kept.success) return kept.data;
    throw new Error(
      `${file} was written by another version. Delete its directory, including the rehearsed stack`,
    );
  }
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const settings = await createSettings();
  writeFileSync(file, `${JSON.stringify(settings, undefined, 2)}\n`, { mode: 0o600 });
  return settings;
}

async function createSettings(): Promise<RehearsalSettings> {
  const ports = await freePorts(SERVERS.length);
  const discordKey = createDiscordKey();
  const hex = (bytes: number): string => randomBytes(bytes).toString("hex");
  return {
    accountId: hex(16),
    apiToken: hex(20),
    passphrase: hex(16),
    ports: schema.shape.ports.parse(Object.fromEntries(SERVERS.map((name, index) => [name, ports[index]]))),
    // Generate keys in the real format, so that they pass format checks.
    secrets: {
      slackBotToken: `xoxb-rehearsal-${hex(12)}`,
      slackSigningSecret: hex(16),
      telegramBotToken: `1234567890:${hex(18).slice(0, 35)}`,
      telegramWebhookSecret: hex(16),
      discordBotToken: `rehearsal.${hex(20)}`,
      discordPublicKey: discordKey.publicKey,
      discordPrivateKey: discordKey.privateKey,
      discordApplicationId: "1000000000000000001",
      anthropicApiKey: `sk-ant-rehearsal-${hex(16)}`,
      adminToken: hex(16),
    },
  };
}
