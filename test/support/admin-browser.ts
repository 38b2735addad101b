import { expect, onTestFinished } from "vitest";
import { type Route, ROUTES } from "../../runtime/contract/routes.ts";
import { openBrowser, PHONE, refusalsByPolicy, signIn } from "./browser.ts";
import { startHost, type HostOptions } from "./host.ts";
import { shoot } from "./screenshots.ts";

const NO_PAGES: readonly string[] = [
  ROUTES.logsDownload.path,
  ROUTES.usageExport.path,
  ROUTES.backupsRestorePage.path,
];

/** `queries` maps a path to the query that its page requires. */
export const adminPages = (queries: Readonly<Record<string, string>>): string[] =>
  Object.values<Route>(ROUTES)
    .filter(
      ({ method, access, path }) => method === "GET" && access === "identity" && path.startsWith("/_admin/"),
    )
    .filter(({ path }) => !path.startsWith("/_admin/api/") && !NO_PAGES.includes(path))
    .map(({ path }) => `${path}${queries[path] ?? ""}`);

interface AdminOptions extends HostOptions {
  /** Enables JavaScript. Default: false. */
  scripts?: boolean;
  timezone?: string;
}

/** Starts a host, and a phone-sized browser signed in to its admin pages. */
export async function openAdmin(
  { scripts = false, timezone, ...options }: AdminOptions = {},
  state = "ready",
) {
  const host = await startHost(options);
  onTestFinished(() => host.stop());
  await host.inState(state);
  const page = await openBrowser({
    viewport: PHONE,
    javaScriptEnabled: scripts,
    ...(timezone !== undefined && { timezoneId: timezone }),
  });
  const refusedByPolicy = refusalsByPolicy(page);
  await page.goto(`${host.url}/_admin/`);
  await signIn(page, host.secrets.adminToken);
  const width = () => page.evaluate("document.documentElement.scrollWidth");
  const look = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `phone-${name}-${colorScheme}`);
      // A page that reloads itself every few seconds may do so meanwhile.
      expect([name, await width().catch(width)]).toEqual([name, PHONE.width]);
    }
  };
  return { host, page, look, refusedByPolicy };
}
