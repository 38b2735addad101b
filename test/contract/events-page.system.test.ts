import { expect, onTestFinished, test } from "vitest";
import { bundleAssets } from "../../infra/bundle/assets.ts";
import type { LedgerEntry, NameEntry } from "../../runtime/edge/ports.ts";
import { listen } from "../../runtime/process/listen.ts";
import { barriers } from "../support/accessibility.ts";
import { browserIsMissing, openBrowser, refusalsByPolicy } from "../support/browser.ts";
import { edgeFixture, NOW, signedIn } from "../support/edge.ts";
import { shoot } from "../support/screenshots.ts";

const NAMES = ["Ada Lovelace", "<b>Eve</b>", "مرحبا بالعالم", "👩‍👩‍👧 Familie", "x".repeat(200), undefined];
const SEEN = { firstSeenAt: new Date(NOW).toISOString(), lastSeenAt: new Date(NOW).toISOString() };

const named = NAMES.flatMap((name, index): NameEntry[] => [
  {
    key: `telegram:${index}`,
    kind: "person",
    platform: "telegram",
    id: `${index}`,
    hue: 30 * index,
    ...SEEN,
    ...(name !== undefined && { name }),
  },
]);

/** Events of people with difficult names, each of which offers all that a row can. */
const entries = Array.from({ length: 50 }, (_, index): LedgerEntry => {
  const state = (["failed", "ignored", "answered", "waiting"] as const)[index % 4] ?? "failed";
  const at = new Date(NOW - index * 61_000).toISOString();
  return {
    key: `slack:Ev${"0".repeat(30)}${index}`,
    platform: "slack",
    conversation: "slack:T1:C1:1795000000.000100",
    state: index < 25 ? "ignored" : state,
    attempts: 3,
    receivedAt: at,
    ...(state === "waiting" && { nextAt: at }),
    note: "503 gateway_unavailable The gateway cannot start: the config file is not valid, and so on.",
    ...(index % 2 === 0 && { group: "C1" }),
    sender: `telegram:${index % NAMES.length}`,
    place: index % 3 === 0 ? `telegram:${(index + 1) % NAMES.length}` : "slack:C0123456789",
  };
});

test.skipIf(browserIsMissing)(
  "fifty events fit on a page of 2,500 px, and on a phone each is a card within its width",
  { timeout: 120_000 },
  async () => {
    const { jwk, headers } = await signedIn();
    const { files } = await bundleAssets({ hashed: false });
    const { app } = edgeFixture({
      jwk,
      named,
      assets: Object.fromEntries([...files].map(([name, content]) => [name, new Uint8Array(content)])),
      ledger: {
        list: async () => ({ entries, next: 7 }),
        details: async () => ({ entry: entries[0] as LedgerEntry, attempts: [] }),
      },
    });
    const server = await listen({ fetch: (request) => app.fetch(request), hostname: "127.0.0.1", port: 0 });
    onTestFinished(() => server.close(0));
    const page = await openBrowser({ extraHTTPHeaders: headers });
    const refused = refusalsByPolicy(page);
    // On a tablet the table scrolls to its remedies.
    for (const [width, highest, rightmost] of [
      [1440, 2_500, 1440],
      [1024, 2_500, 2_000],
      [390, 8_000, 390],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`http://127.0.0.1:${server.port}/_admin/ledger`);
      await shoot(page, `events-busy-${width}`);
      const [height, wide] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]",
      );
      expect(wide).toBeLessThanOrEqual(width);
      expect(height).toBeLessThan(highest);
      const ends = await page.evaluate<number[]>(
        "[...document.querySelectorAll('td.action button')].map((one) => one.getBoundingClientRect().right)",
      );
      expect(ends.length).toBeGreaterThan(30);
      expect(Math.max(...ends)).toBeLessThanOrEqual(rightmost);
      expect(await barriers(page)).toEqual([]);
    }
    await page.goto(`http://127.0.0.1:${server.port}/_admin/ledger/event?key=slack:Ev1`);
    await shoot(page, "event-390");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    expect(await barriers(page)).toEqual([]);
    expect(refused).toEqual([]);
  },
);
