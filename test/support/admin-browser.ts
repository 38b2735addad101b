import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { startHost, type HostOptions } from "./host.ts";
import { shoot } from "./screenshots.ts";

const CHROMIUM = "/usr/bin/chromium";
/** CI installs it: there a missing browser fails. */
export const missing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The admin pages are not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (missing) process.stderr.write(REASON);
const PHONE = { width: 320, height: 640 };

/** What {@link openAdmin} opens. */
interface AdminOptions extends HostOptions {
  /** Forms and links are all that the pages need; with scripts some do more. */
  scripts?: boolean;
}

/** A host and a phone's browser whose person is signed in to the admin pages. */
export async function openAdmin({ scripts = false, ...options }: AdminOptions = {}, state = "ready") {
  const host = await startHost(options);
  onTestFinished(() => host.stop());
  await host.inState(state);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: scripts });
  const page = await context.newPage();
  const refusedByPolicy: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) refusedByPolicy.push(message.text());
  });
  await page.goto(`${host.url}/_admin/`);
  await page.getByLabel("Admin token").fill(host.secrets.adminToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  /** What is wider than the phone, in either colour scheme. */
  const look = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `phone-${name}-${colorScheme}`);
      expect([name, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([
        name,
        PHONE.width,
      ]);
    }
  };
  return { host, page, context, look, refusedByPolicy };
}
