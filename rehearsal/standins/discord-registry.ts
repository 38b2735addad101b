import { Hono } from "hono";
import { signInteraction, type DiscordKey } from "./discord-key.ts";
import { PersistedValue } from "./persisted-value.ts";

export interface DiscordRegistry {
  routes: Hono;
  commands(): readonly Record<string, unknown>[];
  endpoint(): string | null;
  /** Simulates a change in the developer portal. */
  change(registered: Partial<Registered>): void;
}

interface Registered {
  commands: Record<string, unknown>[];
  endpoint: string | null;
}

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes */
const UNKNOWN_APPLICATION = { message: "Unknown Application", code: 10002 };
const NOT_VERIFIED = {
  code: "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID",
  message: "The specified interactions endpoint url could not be verified.",
};
const INVALID_FORM = {
  message: "Invalid Form Body",
  code: 50035,
  errors: { interactions_endpoint_url: { _errors: [NOT_VERIFIED] } },
};

/**
 * Creates the registration part of Discord's API: the application
 * (https://docs.discord.com/developers/resources/application), its global commands
 * (https://docs.discord.com/developers/interactions/application-commands), and the verification of its endpoint
 * (https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint). Not modelled: requests for
 * single commands, further application fields, validation of commands.
 */
export function createRegistry(
  { applicationId, file }: { applicationId: string; file?: string },
  key: DiscordKey,
): DiscordRegistry {
  const kept = new PersistedValue<Registered>(file, { commands: [], endpoint: null });
  const routes = new Hono();
  const application = () => ({
    id: applicationId,
    name: "steward",
    verify_key: key.publicKey,
    bot_public: false,
    interactions_endpoint_url: kept.value.endpoint,
  });

  routes.get("/applications/@me", (context) => context.json(application()));
  routes.patch("/applications/@me", async (context) => {
    const { interactions_endpoint_url: url } = await context.req.json<Record<string, string | null>>();
    if (url === undefined) return context.json(application());
    if (url !== null && !(await isVerified(url, applicationId, key))) return context.json(INVALID_FORM, 400);
    kept.value = { ...kept.value, endpoint: url };
    return context.json(application());
  });
  routes.use("/applications/:id/commands", async (context, next) => {
    if (context.req.param("id") !== applicationId) return context.json(UNKNOWN_APPLICATION, 404);
    return next();
  });
  routes.get("/applications/:id/commands", (context) => context.json(kept.value.commands));
  routes.put("/applications/:id/commands", async (context) => {
    const given = await context.req.json<Record<string, unknown>[]>();
    // Discord adds ids and a version, and sets absent fields to null.
    const added = { application_id: applicationId, version: "1", default_member_permissions: null };
    const commands = given.map((command, index) =>
      Object.assign(command, added, { id: String(8_000 + index) }),
    );
    kept.value = { ...kept.value, commands };
    return context.json(commands);
  });

  return {
    routes,
    commands: () => kept.value.commands,
    endpoint: () => kept.value.endpoint,
    change: (registered) => {
      kept.value = { ...kept.value, ...registered };
    },
  };
}

/** Returns true if the endpoint answers a signed PING with PONG, and a wrong signature with 401. */
async function isVerified(url: string, applicationId: string, key: DiscordKey): Promise<boolean> {
  const ping = {
    id: "7000",
    application_id: applicationId,
    type: 1,
    token: "a-ping-is-not-answered-later",
    version: 1,
  };
  const body = JSON.stringify(ping);
  const right = signInteraction(key, body);
  const wrong = { ...right, "x-signature-ed25519": "0".repeat(128) };
  const ask = (headers: Record<string, string>) => fetch(url, { method: "POST", headers, body });
  try {
    const [taken, refused] = await Promise.all([ask(right), ask(wrong)]);
    const answer = taken.ok ? ((await taken.json()) as { type?: number }) : {};
    return answer.type === 1 && refused.status === 401;
  } catch {
    return false;
  }
}
