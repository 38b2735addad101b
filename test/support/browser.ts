import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const CHROMIUM = "/usr/bin/chromium";
const ATTEMPTS = 5;
const PAUSE_MS = 500;

export const PHONE = { width: 320, height: 640 };

/** True if browser tests are skipped, because this machine lacks Chromium. In CI, they fail instead. */
export const browserIsMissing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The pages are not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (browserIsMissing) process.stderr.write(REASON);

export async function openBrowser(options?: BrowserContextOptions, args: string[] = []): Promise<Page> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...args] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const goto = page.goto.bind(page);
  // A changed network interface, or a page that reloads itself, aborts loading. Chromium's error page aborts a retry.
  page.goto = async (...given) => {
    for (let attempt = 1; ; attempt += 1)
      try {
        return await goto(...given);
      } catch (error) {
        if (attempt === ATTEMPTS || !/ERR_(NETWORK_CHANGED|ABORTED)|chrome-error:/.test(String(error)))
          throw error;
        await sleep(PAUSE_MS);
      }
  };
  return page;
}

/** Returns a list that collects violations of the content security policy. */
export function refusalsByPolicy(page: Page): string[] {
  const refused: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) refused.push(message.text());
  });
  return refused;
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Admin token").fill(token);
  await opening(page, () => page.getByRole("button", { name: "Sign in" }).click());
}

/** Performs an action that opens a page. Reloads the page if a changed network interface aborts that. */
async function opening(page: Page, act: () => Promise<void>): Promise<void> {
  const opened = page.waitForEvent("framenavigated", (frame) => frame === page.mainFrame());
  await Promise.all([opened, act()]);
  for (let attempt = 1; attempt < ATTEMPTS && page.url().startsWith("chrome-error:"); attempt += 1) {
    await sleep(PAUSE_MS);
    await page.reload().catch(() => undefined);
  }
}

export async function unfold(page: Page): Promise<void> {
  const menu = page.locator("label.menu");
  if (await menu.isVisible()) await menu.click();
}

export async function go(page: Page, name: string): Promise<void> {
  await unfold(page);
  await opening(page, () => page.getByRole("navigation").getByRole("link", { name, exact: true }).click());
}
