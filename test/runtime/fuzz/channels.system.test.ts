import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { createChannels } from "../../../runtime/gateway/channels/registry.ts";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { pairingStores } from "../../../runtime/gateway/pairing/store.ts";
import { deliver, startGateway, surroundings } from "../support/gateway.ts";
import { DISCORD_MESSAGES, EVENTS, INTERACTIONS, UPDATES } from "./events.ts";
import { UNMOVED } from "../support/telegram.ts";
import { mutated } from "./shapes.ts";

/** Fixed, so that a failure comes again; change it to look elsewhere. */
const SEED = 20_261_124;
const SHAPES: Record<Platform, readonly object[]> = {
  telegram: UPDATES,
  slack: EVENTS,
  discord: [...INTERACTIONS, ...DISCORD_MESSAGES],
};
const PLATFORMS = Object.keys(SHAPES) as Platform[];
const TOKENS = {
  TELEGRAM_BOT_TOKEN: "1234567890:AAabcdefghijklmnopqrstuvwxyz0123456",
  DISCORD_BOT_TOKEN: "discord-token-0123456789",
};
const silent = () => {};

function channels() {
  const everyone = { dmPolicy: "open", allowFrom: ["*"] };
  const checked = checkConfig({
    channels: {
      telegram: { botToken: TOKENS.TELEGRAM_BOT_TOKEN, ...everyone },
      slack: { botToken: "slack-token", signingSecret: "signing-secret", ...everyone },
      discord: { token: TOKENS.DISCORD_BOT_TOKEN, ...everyone },
    } satisfies Record<Platform, object>,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return createChannels({
    config: checked.config,
    environment: { TELEGRAM_API_ROOT: "http://127.0.0.1:9" },
    pairing: pairingStores({ home: tmpdir(), clock: () => 0, onSetAside: silent }),
    intakes: { telegram: () => undefined, discord: () => undefined },
    telegramMoves: UNMOVED,
    clock: () => 1_795_000_000_000,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** A RetryableError is no failure: Telegram's name is not known yet, and a mention may be of the bot. */
function kindOf(receive: () => { kind: string } | undefined): string {
  try {
    return receive()?.kind ?? "none";
  } catch (error) {
    if (error instanceof RetryableError) return "postponed";
    throw error;
  }
}

test.each(PLATFORMS)(`2,000 bodies of %s are read, or left with a reason (seed ${SEED})`, (platform) => {
  const channel = channels().get(platform);
  const kinds = new Map<string, number>();
  fc.assert(
    fc.property(mutated(SHAPES[platform]), (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return;
      const kind = kindOf(() => channel?.receive(value as Record<string, unknown>));
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }),
    { seed: SEED, numRuns: 2_000 },
  );
  // Both ways were gone often, or the bodies show nothing.
  expect(kinds.get("ignored")).toBeGreaterThan(100);
  expect(kinds.get("message")).toBeGreaterThan(100);
});

test(`a gateway takes 300 odd deliveries, and stores nothing of those that it leaves (seed ${SEED})`, async () => {
  const { home, url, environment } = await surroundings();
  const nowhere = "http://127.0.0.1:9";
  const gateway = await startGateway({
    ...environment,
    ...TOKENS,
    TELEGRAM_API_ROOT: nowhere,
    DISCORD_API_URL: nowhere,
  });
  const bodies = fc.sample(
    fc.oneof(
      ...PLATFORMS.map((platform) => mutated(SHAPES[platform]).map((payload) => ({ platform, payload }))),
    ),
    { seed: SEED, numRuns: 300 },
  );
  const ignored: string[] = [];
  for (const [index, { platform, payload }] of bodies.entries()) {
    const id = `odd-${index}`;
    const { status, answer } = await deliver(url, {
      id,
      platform,
      conversation: `odd:${index}`,
      receivedAt: 1_795_000_000_000,
      payload,
    });
    expect([200, 400, 429, 503], JSON.stringify(payload)).toContain(status);
    expect(answer["code"], JSON.stringify(payload)).not.toBe("internal");
    if (answer["outcome"] === "ignored") ignored.push(id);
  }
  expect(ignored.length).toBeGreaterThan(30);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const database = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  const kept = database.prepare("SELECT count(*) AS n FROM messages WHERE delivery = ?");
  expect(ignored.filter((id) => Number(kept.get(id)?.["n"]) > 0)).toEqual([]);
  database.close();
  expect(gateway.stdout()).not.toContain("request failed");
});
