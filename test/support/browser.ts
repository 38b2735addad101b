import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { onTestFinished } from "vitest";

const CHROMIUM = "/usr/bin/chromium";

/** No browser is here to test with. CI installs it: there a missing one fails. */
export const browserIsMissing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The chat page is not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (browserIsMissing) process.stderr.write(REASON);

/** An empty page of a browser of its own, ended with the test. */
export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext();
  return context.newPage();
}
