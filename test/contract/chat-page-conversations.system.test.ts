import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { barriers } from "../support/accessibility.ts";
import { browserIsMissing, openBrowser, refusalsByPolicy } from "../support/browser.ts";
import { startHost } from "../support/host.ts";
import { shoot } from "../support/screenshots.ts";
import { steward } from "../runtime/support/cli.ts";
import { modelError, modelStream, startModel } from "../runtime/support/platforms.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };

/** A host with a model that a test scripts, and a browser that is paired with it. */
async function paired() {
  const model = await startModel();
  const host = await startHost({ build: "bundle", environment: { ANTHROPIC_BASE_URL: model.url } });
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const page = await openBrowser({ viewport: { width: 1440, height: 900 } });
  const refused = refusalsByPolicy(page);
  await page.goto(`${host.url}/chat`);
  const command = page.locator("#command");
  await expect.poll(() => command.textContent(), SOON).toMatch(/devices approve/);
  const [, ...words] = ((await command.textContent()) ?? "").split(" ");
  expect(await page.locator("#code").textContent()).toBe(words.at(-1));
  await steward({ STEWARD_HOME: host.home }, ...words);
  await isState(page, "Connected");
  return { model, host, page, refused };
}

const isState = (page: Page, state: string) =>
  expect.poll(() => page.locator("#state").textContent(), SOON).toBe(state);

async function write(page: Page, text: string): Promise<void> {
  await page.locator("#text").fill(text);
  await page.keyboard.press("Enter");
}

/** Waits for the messages of the conversation, in their order. */
const shows = (page: Page, ...texts: string[]) =>
  expect.poll(() => page.locator("article").allTextContents(), SOON).toEqual(texts);

test.skipIf(browserIsMissing)(
  "Stop keeps what is there; what waits is shown, can be withdrawn, and is answered then",
  async () => {
    const { page, model } = await paired();
    model.next(modelStream("one two three", { stall: true }));
    await write(page, "count");
    await shows(page, "count", "one two three");
    await write(page, "never mind");
    await write(page, "and then?");
    await shows(page, "count", "one two three", "never mind", "and then?");
    await expect.poll(() => page.locator("article.own.waiting").count(), SOON).toBe(2);
    expect(await barriers(page)).toEqual([]);
    await shoot(page, "chat-queue");
    // A reload changes none of it.
    await page.reload();
    await shows(page, "count", "one two three", "never mind", "and then?");
    await page.getByRole("button", { name: "Withdraw" }).first().click();
    await shows(page, "count", "one two three", "and then?");
    await page.getByRole("button", { name: "Stop" }).click();
    await shows(page, "count", "one two threeStopped", "and then?", "You said: and then?");
    await expect.poll(() => page.locator("#stop").isVisible(), SOON).toBe(false);
    await page.reload();
    await shows(page, "count", "one two threeStopped", "and then?", "You said: and then?");
  },
);

test.skipIf(browserIsMissing)(
  "a failed message is tried again, the last answer made again, the last message edited",
  async () => {
    const { page, model } = await paired();
    const overloaded = modelError(529, "overloaded_error", "Overloaded");
    model.next(overloaded, overloaded, overloaded);
    await write(page, "hello");
    await page.locator("article.failed").getByRole("button", { name: "Try again" }).click(SOON);
    await shows(page, "hello", "You said: hello");
    model.next(modelStream("Another answer"));
    await page.getByRole("button", { name: "Answer again" }).click();
    await shows(page, "hello", "Another answer");
    await page.getByRole("button", { name: "Edit" }).click();
    expect(await page.locator("#text").inputValue()).toBe("hello");
    await page.keyboard.press("Escape");
    expect(await page.locator("#text").inputValue()).toBe("");
    await page.getByRole("button", { name: "Edit" }).click();
    await write(page, "hello there");
    await shows(page, "hello there", "You said: hello there");
    await page.reload();
    await shows(page, "hello there", "You said: hello there");
    expect(model.asked().at(-1)).toEqual(["user: hello there"]);
  },
);

test.skipIf(browserIsMissing)(
  "what is written without a connection is kept across a reload, and sent with the next one",
  async () => {
    const { page, host } = await paired();
    await write(page, "before");
    await shows(page, "before", "You said: before");
    await host.writeConfig({ nonsense: true });
    process.kill(await host.gatewayPid(), "SIGKILL");
    await host.inState("crash-looping");
    await isState(page, "Disconnected, retrying");
    await write(page, "first");
    await write(page, "second");
    await write(page, "third");
    await expect.poll(() => page.locator("article.own.waiting").count(), SOON).toBe(3);
    await page.getByRole("button", { name: "Withdraw" }).nth(1).click();
    await shoot(page, "chat-offline");
    await page.reload();
    await shows(page, "first", "third");
    expect(await page.locator("#text").isEnabled()).toBe(true);
    await host.writeConfig({});
    await shows(page, "before", "You said: before", "first", "You said: first", "third", "You said: third");
  },
  90_000,
);

test.skipIf(browserIsMissing)(
  "conversations are listed, searched, renamed and deleted, by keys alone",
  async () => {
    const { page, refused } = await paired();
    await write(page, "Where do penguins live?");
    await shows(page, "Where do penguins live?", "You said: Where do penguins live?");
    const list = page.locator("#conversations li > button:first-child");
    await expect.poll(() => list.allTextContents(), SOON).toEqual(["Where do penguins live?"]);

    await page.locator("#new").press("Enter");
    await shows(page);
    await write(page, "Plan a week in Rome");
    await shows(page, "Plan a week in Rome", "You said: Plan a week in Rome");
    await expect
      .poll(() => list.allTextContents(), SOON)
      .toEqual(["Plan a week in Rome", "Where do penguins live?"]);
    expect(await page.locator("#name").textContent()).toBe("Plan a week in Rome");
    await page.reload();
    await shows(page, "Plan a week in Rome", "You said: Plan a week in Rome");

    await page.locator("#search").fill("LIVE?");
    await expect.poll(() => list.count(), SOON).toBe(3);
    await shoot(page, "chat-search");
    await list.first().press("Enter");
    await shows(page, "Where do penguins live?", "You said: Where do penguins live?");

    await page.getByRole("button", { name: "Rename or delete Where do penguins live?" }).press("Enter");
    await page.locator("#title").fill("Birds");
    await page.keyboard.press("Enter");
    await expect.poll(() => list.allTextContents(), SOON).toEqual(["Plan a week in Rome", "Birds"]);
    await page.getByRole("button", { name: "Rename or delete Birds" }).press("Enter");
    await page.locator("#delete").press("Enter");
    expect(await page.locator("#delete").textContent()).toBe("Delete permanently");
    await page.locator("#delete").press("Enter");
    await shows(page, "Plan a week in Rome", "You said: Plan a week in Rome");
    await page.reload();
    await expect.poll(() => list.allTextContents(), SOON).toEqual(["Plan a week in Rome"]);
    expect(refused).toEqual([]);
  },
);

test.skipIf(browserIsMissing)(
  "files come in with a message, and one that is too large is refused in words",
  async () => {
    const { page, model } = await paired();
    const file = (name: string, mimeType: string, buffer: Buffer) => ({ name, mimeType, buffer });
    await page
      .locator("#file")
      .setInputFiles([
        file("plan.md", "text/markdown", Buffer.from("The word is albatross.")),
        file("big.csv", "text/csv", Buffer.alloc(6 * 1024 * 1024)),
      ]);
    await expect
      .poll(() => page.locator("#trouble-text").textContent(), SOON)
      .toBe("big.csv is 6 MB; the limit is 5 MB per file.");
    await page.locator("#retry").click();
    await page.getByRole("button", { name: "Remove plan.md" }).waitFor();
    await write(page, "Which word?");
    await expect
      .poll(() => page.locator("article.own").textContent(), SOON)
      .toBe("Which word?[file: plan.md]");
    await expect.poll(() => page.locator("article:not(.own)").textContent(), SOON).toContain("albatross");
    expect(model.calls.at(-1)?.body).toContain("The word is albatross.");
    // The browser keeps the file, so that the question can be asked again.
    await page.reload();
    model.next(modelStream("Albatross"));
    await page.getByRole("button", { name: "Answer again" }).click(SOON);
    await expect.poll(() => page.locator("article:not(.own)").textContent(), SOON).toBe("Albatross");
    expect(model.calls.at(-1)?.body).toContain("The word is albatross.");
  },
);

test.skipIf(browserIsMissing)("can be installed as an app: manifest and icons load", async () => {
  const { page, host, refused } = await paired();
  const session = await page.context().newCDPSession(page);
  const { manifest, errors } = await session.send("Page.getAppManifest");
  expect(errors).toEqual([]);
  expect(manifest).toMatchObject({ startUrl: `${host.url}/chat`, display: "kStandalone" });
  // The test's browser is a private one; nothing else is in the way.
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
  expect(refused).toEqual([]);
});

test.skipIf(browserIsMissing)(
  "a page works with a gateway of an earlier version, in one conversation",
  async () => {
    const host = await startHost({ build: "bundle" });
    onTestFinished(() => host.stop());
    const page = await openBrowser();
    const sent: { type: string; id: string; text?: string }[] = [];
    await page.routeWebSocket(/\/chat\/socket$/, (socket) => {
      const send = (message: object): void => socket.send(JSON.stringify(message));
      send({ type: "challenge", nonce: "n" });
      socket.onMessage((data) => {
        const message = JSON.parse(String(data)) as (typeof sent)[number];
        sent.push(message);
        if (message.type === "hello")
          send({ type: "welcome", history: [], items: [], running: [], ticket: "t" });
        if (message.type !== "say") return;
        send({ type: "accepted", id: message.id, text: message.text });
        send({ type: "typing", id: message.id });
        if (message.text === "hello") send({ type: "answer", id: message.id, text: "Hi" });
      });
    });
    await page.goto(`${host.url}/chat`);
    await isState(page, "Connected");
    await write(page, "hello");
    await shows(page, "hello", "Hi");
    expect(await page.locator("#sidebar, #menu, .actions").locator("visible=true").count()).toBe(0);
    await write(page, "count");
    await page.getByRole("button", { name: "Stop" }).click(SOON);
    await expect
      .poll(() => sent.map(({ type, text }) => [type, text]))
      .toEqual([
        ["hello", undefined],
        ["say", "hello"],
        ["say", "count"],
        ["say", "/stop"],
      ]);
  },
);

test.skipIf(browserIsMissing)(
  "works from 390 to 1920 pixels, in both schemes, without barriers",
  async () => {
    const { page, model } = await paired();
    const code =
      "```ts\nconst answer: number = 42; // and a line that is much longer than a phone's screen is wide\n```";
    model.next(modelStream(`Here it **is**:\n\n${code}\n\n| a | b |\n|---|---|\n| 1 | 2 |`));
    await write(page, "Show me some code");
    await expect.poll(() => page.locator("article pre").count(), SOON).toBe(1);
    for (const [width, height] of [
      [390, 844],
      [1024, 768],
      [1920, 1080],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await barriers(page), `${width} ${colorScheme}`).toEqual([]);
        await shoot(page, `chat-${width}-${colorScheme}`);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      const [copy, text] = [page.locator(".copy"), page.locator("article pre")];
      const [above, below] = [await copy.boundingBox(), await text.boundingBox()];
      expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator("#sidebar").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Conversations" }).press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("search");
    expect(await barriers(page)).toEqual([]);
    await shoot(page, "chat-sidebar-phone");
    await page.keyboard.press("Escape");
    expect(await page.locator("#sidebar").isVisible()).toBe(false);
  },
);
