import { expect, onTestFinished, test } from "vitest";
import { bundleAssets } from "../../infra/bundle/assets.ts";
import type { LedgerEntry, NameEntry } from "../../runtime/edge/ports.ts";
import { listen } from "../../runtime/process/listen.ts";
import { barriers, findings } from "../support/accessibility.ts";
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

const FIRST = entries[0] as LedgerEntry;
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();

/** Serves an edge with these events. Its list contains only those that `shown` returns. */
async function serveEvents(shown = () => entries) {
  const { jwk, headers } = await signedIn();
  const { files } = await bundleAssets({ hashed: false });
  const { app } = edgeFixture({
    jwk,
    named,
    assets: Object.fromEntries([...files].map(([name, content]) => [name, new Uint8Array(content)])),
    ledger: {
      list: async () => ({ entries: shown(), next: 7 }),
      details: async () => ({
        entry: { ...FIRST, timeline: { received: at(0), recorded: at(0.1), settled: at(2) } },
        attempts: [
          { at: at(0.2), endedAt: at(1), note: "503 gateway_unavailable" },
          { at: at(1.5), endedAt: at(2), note: "not_allowed" },
        ],
      }),
      excerpt: async () => "What Ada wrote.",
    },
  });
  const server = await listen({ fetch: (request) => app.fetch(request), hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  return { url: `http://127.0.0.1:${server.port}`, headers };
}

/** The list in a browser, and what the test asks of it. */
async function openList(width: number, javaScriptEnabled = true) {
  let shown = entries;
  const { url, headers } = await serveEvents(() => shown);
  const page = await openBrowser({
    extraHTTPHeaders: headers,
    viewport: { width, height: 800 },
    reducedMotion: "reduce",
    javaScriptEnabled,
  });
  await page.goto(`${url}/_admin/ledger`);
  return {
    page,
    link: page.getByTitle(FIRST.key),
    drawer: page.getByRole("dialog", { name: "Event" }),
    focused: () => page.evaluate<string>("document.activeElement.title"),
    /** Has the list hold other events, and the page learn of it. */
    async change(next: LedgerEntry[]) {
      shown = next;
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await expect.poll(() => page.locator("main tbody tr").count()).toBe(next.length);
    },
  };
}

test.skipIf(browserIsMissing)(
  "fifty events fit on a page of 2,500 px, and on a phone each is a card within its width",
  { timeout: 120_000 },
  async () => {
    const { url, headers } = await serveEvents();
    const page = await openBrowser({ extraHTTPHeaders: headers });
    const refused = refusalsByPolicy(page);
    // On a tablet the table scrolls to its remedies.
    for (const [width, highest, rightmost] of [
      [1440, 2_500, 1440],
      [1024, 2_500, 2_000],
      [390, 8_000, 390],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${url}/_admin/ledger`);
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
    await page.goto(`${url}/_admin/ledger/event?key=slack:Ev1`);
    await shoot(page, "event-390");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    expect(await barriers(page)).toEqual([]);
    expect(refused).toEqual([]);
  },
);

test.skipIf(browserIsMissing).each([390, 1440])(
  "an event opens in a drawer over the list, by the pointer and by the keyboard, at %i px",
  { timeout: 120_000 },
  async (width) => {
    const { page, link, drawer, focused, change } = await openList(width);
    const refused = refusalsByPolicy(page);
    const list = page.url();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await link.click();
      await drawer.getByRole("heading", { name: "Event", exact: true }).waitFor();
      await shoot(page, `event-drawer-${width}-${colorScheme}`, false);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "hidden" });
      expect(await focused()).toBe(FIRST.key);
    }

    await page.keyboard.press("Enter");
    await drawer.getByText(FIRST.key).first().waitFor();
    await drawer.getByRole("heading", { name: "Course" }).waitFor();
    await drawer.getByText("after 2.0 s").waitFor();
    await drawer.getByRole("heading", { name: "Attempts" }).waitFor();
    await drawer.getByText("not_allowed").waitFor();
    // The list goes on behind it.
    await change(entries.slice(0, 3));
    expect(await drawer.isVisible()).toBe(true);
    await drawer.getByRole("button", { name: "Close" }).click();
    expect(await drawer.isVisible()).toBe(false);
    expect([await focused(), page.url()]).toEqual([FIRST.key, list]);
    // The link has the focus, but no ring that shows it.
    await change(entries.slice(0, 5));

    await link.click();
    await drawer.waitFor();
    const { x, width: wide } = (await drawer.boundingBox()) ?? { x: -1, width: -1 };
    expect([x + wide, wide]).toEqual([width, Math.min(width, 512)]);
    if (x > 0) await page.mouse.click(x / 2, 400);
    else await page.keyboard.press("Escape");
    expect(await drawer.isVisible()).toBe(false);

    // Its forms lead on as those of the page do.
    await link.click();
    await drawer.getByRole("button", { name: "Show the text" }).click();
    await page.getByText("What Ada wrote.").waitFor();
    await page.goBack();
    expect(page.url()).toBe(list);
    expect(refused).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("a link to an event leads to its page where the drawer cannot", async () => {
  const { page, link, drawer } = await openList(1440);
  const elsewhere = page.context().waitForEvent("page");
  await link.click({ modifiers: ["ControlOrMeta"] });
  await elsewhere;
  expect(await drawer.count()).toBe(0);

  let answer: "redirect" | "refuse" = "refuse";
  await page.route("**/ledger/event?*", async (route) => {
    if (route.request().resourceType() !== "fetch") return route.continue();
    if (answer === "refuse") return route.fulfill({ status: 401, body: "{}" });
    return route.fulfill({ status: 303, headers: { location: "/_admin/about" } });
  });
  for (answer of ["refuse", "redirect"] as const) {
    await link.click();
    await page.waitForURL("**/ledger/event?*");
    await page.goBack();
  }

  const plain = await openList(390, false);
  await plain.link.click();
  await plain.page.waitForURL("**/ledger/event?*");
  await plain.page.getByText("not_allowed").waitFor();
});
