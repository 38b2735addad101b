import { expect, onTestFinished } from "vitest";
import { openBrowser, PHONE, refusalsByPolicy, signIn } from "./browser.ts";
import { startHost, type HostOptions } from "./host.ts";
import { shoot } from "./screenshots.ts";

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
  const page = await openBrowser({ viewport: PHONE, javaScriptEnabled: scripts });
  const refusedByPolicy = refusalsByPolicy(page);
  await page.goto(`${host.url}/_admin/`);
  await signIn(page, host.secrets.adminToken);
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
  return { host, page, look, refusedByPolicy };
}
