import * as fc from "fast-check";
import { expect, test } from "vitest";
import { deliverySchema } from "../../../runtime/contract/delivery.ts";
import type { WebhookPath } from "../../../runtime/contract/routes.ts";
import { createDiscordKey } from "../../support/discord.ts";
import { edgeFixture, slackHeaders, TELEGRAM_SECRET } from "../../support/edge.ts";
import { EVENTS, INTERACTIONS, UPDATES } from "./events.ts";
import { mutated } from "./shapes.ts";

/** Fixed, so that a failure comes again; change it to look elsewhere. */
const SEED = 20_261_123;
/** Generous: 2,000 signatures on a machine with much else to do. */
const LONG_MS = 240_000;
const discord = await createDiscordKey();
const telegramHeaders = {
  "content-type": "application/json",
  "x-telegram-bot-api-secret-token": TELEGRAM_SECRET,
};

type Sign = (body: string) => Promise<Record<string, string>>;
const WEBHOOKS: Record<WebhookPath, readonly [valid: readonly object[], sign: Sign]> = {
  "/telegram-webhook": [UPDATES, async () => telegramHeaders],
  "/slack/events": [EVENTS, (body) => slackHeaders(body)],
  "/discord/interactions": [INTERACTIONS, (body) => discord.headers(body)],
};

test.each(Object.entries(WEBHOOKS))(
  `2,000 bodies on %s are recorded whole or refused (seed ${SEED})`,
  async (path, [valid, sign]) => {
    const seen = new Map<number, number>();
    let recorded = 0;
    await fc.assert(
      fc.asyncProperty(mutated(valid), fc.constantFrom("ready", "stopped"), async (value, state) => {
        const { app, admitted } = edgeFixture({ state, discordPublicKey: discord.publicKey });
        const body = JSON.stringify(value) ?? "";
        const headers: Record<string, string> = { ...(await sign(body)) };
        const response = await app.request(path, { method: "POST", body, headers });
        expect([200, 400, 503]).toContain(response.status);
        const { code } = (await response.json().catch(() => ({}))) as { code?: string };
        const told = { 200: undefined, 400: "body_invalid", 503: "gateway_unavailable" }[response.status];
        expect(code).toBe(told);
        expect(response.status === 503 && state === "ready").toBe(false);
        expect(admitted.length).toBeLessThanOrEqual(response.status === 400 ? 0 : 1);
        for (const one of admitted) expect(deliverySchema.safeParse(one).error).toBeUndefined();
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        recorded += admitted.length;
      }),
      { seed: SEED, numRuns: 2_000 },
    );
    // Both ways were gone often, or the bodies show nothing.
    expect(recorded).toBeGreaterThan(300);
    expect(2_000 - recorded).toBeGreaterThan(300);
    expect([...seen.keys()]).toContain(503);
  },
  LONG_MS,
);
