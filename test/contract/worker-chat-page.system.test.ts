import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser } from "../support/browser.ts";
import { startWorker } from "../support/worker.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 60_000 };

test.skipIf(browserIsMissing)(
  "the chat page wakes the gateway when it is opened and when its person writes, not in between",
  async () => {
    const service = await startWorker({ SANDBOX_SLEEP_AFTER: "2s" });
    onTestFinished(() => service.stop());
    const page = await openBrowser();
    await page.goto(`${await service.origin()}/chat`);
    await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);

    const state = () => page.locator("#state").textContent();
    await expect.poll(state, SOON).toBe("Asleep until you write");
    await service.inState("stopped");
    // Longer than the page waits before it connects anew after any other end.
    await pause(2_000);
    expect(await service.state()).toBe("stopped");
    expect(await state()).toBe("Asleep until you write");

    await page.locator("#text:enabled").fill("hello, are you there?");
    await page.keyboard.press("Enter");
    // What is written while the gateway starts is not lost, and waits.
    await expect
      .poll(() => page.locator("article.own.waiting").textContent(), SOON)
      .toBe("hello, are you there?");
    await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
    expect(await page.locator("#text").isEnabled()).toBe(false);
  },
  120_000,
);
