import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser } from "../support/browser.ts";
import { useUpVisits } from "../support/ready.ts";
import { byChat } from "../support/tenants.ts";
import { startWorker } from "../support/worker.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 60_000 };

test.skipIf(browserIsMissing)(
  "the chat page wakes the gateway when it is opened and when its person writes, not in between",
  async () => {
    // Longer than the page waits between two attempts while a slow machine starts the gateway.
    const service = await startWorker({ SANDBOX_SLEEP_AFTER: "12s" });
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
  240_000,
);

test.skipIf(browserIsMissing)(
  "what was written reaches a gateway that fell asleep while the page connected",
  async () => {
    // Shorter than the gateway waits for a page's proof.
    const service = await startWorker({ SANDBOX_SLEEP_AFTER: "5s" });
    onTestFinished(() => service.stop());
    const page = await openBrowser();
    await page.goto(`${await service.origin()}/chat`);
    await service.inState("ready");
    // Connects at once: the page's next attempt may come when the gateway sleeps again.
    await page.reload();
    const state = () => page.locator("#state").textContent();
    await expect.poll(state, SOON).toBe("Asleep until you write");
    await service.inState("stopped");

    // The page's next proof takes as long as it does on a busy machine: longer than the gateway stays awake.
    await page.evaluate(() => {
      const { subtle } = crypto;
      const sign = subtle.sign.bind(subtle);
      let waits = 15_000;
      subtle.sign = async (...given: Parameters<typeof sign>) => {
        const wait = waits;
        waits = 0;
        await new Promise((resolve) => setTimeout(resolve, wait));
        return sign(...given);
      };
    });
    await page.locator("#text:enabled").fill("hello, are you there?");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
    expect(await page.locator("article.own.waiting").textContent()).toBe("hello, are you there?");
  },
  240_000,
);

test.skipIf(browserIsMissing)(
  "a person whose browser is paired is answered although strangers have used up the wakes of the hour",
  async () => {
    const { change, inState, request, origin, stop } = await byChat({
      TENANCY: "shared",
      SANDBOX_SLEEP_AFTER: "8s",
    });
    onTestFinished(() => stop());
    const page = await openBrowser();
    await page.goto(`${await origin()}/chat`);
    const state = () => page.locator("#state").textContent();
    await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
    await change(`devices approve ${await page.locator("#request").textContent()}`);
    await expect.poll(state, SOON).toBe("Connected");
    await useUpVisits({ inState, request });

    await page.locator("#text:enabled").fill("hello, are you there?");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#log").textContent(), SOON).toContain("read 21 characters");
  },
  240_000,
);
