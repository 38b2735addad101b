import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const CHROMIUM = "/usr/bin/chromium";
const ATTEMPTS = 5;
const PAUSE_MS = 500;

/** A small phone's screen, in pixels. */
export const PHONE = { width: 320, height: 640 };

/** No browser is here to test with. CI installs it: there a missing one fails. */
export const browserIsMissing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The pages are not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (browserIsMissing) process.stderr.write(REASON);

/** An empty page of a browser of its own, ended with the test. */
export async function openBrowser(options?: BrowserContextOptions, args: string[] = []): Promise<Page> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...args] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const goto = page.goto.bind(page);
  // Chromium ends what it loads when a network of the host comes or goes, as those of other tests' containers do. Then it
  // goes to a page of its own, which ends an attempt that comes too early.
  page.goto = async (...given) => {
    for (let attempt = 1; ; attempt += 1)
      try {
        return await goto(...given);
      } catch (error) {
        if (attempt === ATTEMPTS || !/ERR_NETWORK_CHANGED|chrome-error:/.test(String(error))) throw error;
        await sleep(PAUSE_MS);
      }
  };
  return page;
}

/** What a page's content security policy refuses from now on. */
export function refusalsByPolicy(page: Page): string[] {
  const refused: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) refused.push(message.text());
  });
  return refused;
}

/** Fills in the sign-in page and sends it. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Admin token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Shows the navigation, which a phone folds. */
export async function unfold(page: Page): Promise<void> {
  const menu = page.locator("label.menu");
  if (await menu.isVisible()) await menu.click();
}

/** Follows a link of the navigation, which is folded on a phone. */
export async function go(page: Page, name: string): Promise<void> {
  await unfold(page);
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
}
