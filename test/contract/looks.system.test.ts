import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { adminPages } from "../support/admin-browser.ts";
import { barriers } from "../support/accessibility.ts";
import { browserIsMissing, openBrowser, signIn } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { startHost } from "../support/host.ts";
import { shoot } from "../support/screenshots.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
const WIDTHS = [1920, 1280, 390];
const SCHEMES = ["light", "dark"] as const;

/** Queries of the pages that need one. */
const QUERIES: Readonly<Record<string, string>> = {
  [ROUTES.configAllowGroup.path]: "?platform=slack&group=C1",
  [ROUTES.workspaceFile.path]: "?name=AGENTS.md",
  [ROUTES.sessionPage.path]: "?conversation=slack:C1",
};

async function open(colorScheme: (typeof SCHEMES)[number]) {
  const host = await startHost();
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const page = await openBrowser();
  await page.emulateMedia({ colorScheme });
  const found: string[] = [];
  /** Keeps how a page looks at each width, and notes what keeps people out of it. */
  const look = async (name: string, except: readonly string[] = []) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await shoot(page, `${name}-${width}-${colorScheme}`);
      const told = await barriers(page, except);
      found.push(...told.map((barrier) => `${name}, ${width} px: ${barrier}`));
      if ((await page.evaluate<number>("document.documentElement.scrollWidth")) > width) {
        found.push(`${name}, ${width} px: it is wider than the screen`);
      }
    }
  };
  return { host, page, found, look };
}

/** A month of use, as the gateway would have counted it. */
function useForAMonth(home: string): void {
  using database = new DatabaseSync(join(home, "state.db"), { timeout: 5_000 });
  const usage = database.prepare("INSERT INTO usage VALUES (?, ?, ?, ?, ?)");
  const messages = database.prepare("INSERT INTO message_days VALUES (?, ?, ?)");
  for (let ago = 1; ago < 30; ago += 1) {
    const day = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const much = (ago * 7_919) % 23;
    messages.run(day, much * 3, much * 2);
    usage.run(day, "anthropic/claude-sonnet-4-5", much, much * 41_000, much * 6_100);
    if (ago % 3 === 0)
      usage.run(day, "openrouter/a-provider/a-model-with-a-very-long-name:free", much, 90_000, 700);
  }
}

// A test for each scheme: each looks at every page at every width, which takes a slow machine minutes.
describe.skipIf(browserIsMissing)("no page has a serious barrier, wide or narrow", () => {
  test.for(SCHEMES)("in the %s colour scheme", { timeout: 240_000 }, async (colorScheme) => {
    const { host, page, found, look } = await open(colorScheme);
    useForAMonth(host.home);
    await host.postSlack(slackEvent("Ev1"));
    await host.postSlack(
      slackEvent("Ev2", {
        type: "message",
        channel_type: "im",
        channel: "DANN",
        user: "UANN",
        ts: "1795000000.2",
      }),
    );
    await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(1);

    await page.goto(`${host.url}/`);
    await look("home");
    await page.goto(`${host.url}/chat`);
    await page.locator("#pairing").waitFor();
    await look("chat");
    await page.goto(`${host.url}/_admin/`);
    await look("sign-in");
    await signIn(page, host.secrets.adminToken);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const path of adminPages(QUERIES)) {
      await page.goto(`${host.url}${path}`);
      await look(nameOf(path));
    }

    await host.writeConfig({ channels: { telegram: { dm: {} } }, unknown: 1 });
    process.kill(await host.gatewayPid(), "SIGKILL");
    await host.inState("crash-looping");
    await page.goto(`${host.url}/`);
    // The page loads again by itself, which is its purpose; here it stands still while it is looked at.
    await page.route(`${host.url}/`, (route) => route.abort("aborted"));
    await look("wait", ["meta-refresh"]);
    // Away from it first: its next refresh would call the way to another page off.
    await page.goto("about:blank");
    for (const path of [ROUTES.admin.path, ROUTES.configPage.path, ROUTES.configMend.path]) {
      await page.goto(`${host.url}${path}`);
      await look(`down-${nameOf(path)}`);
    }
    expect(found).toEqual([]);
  });
});

function nameOf(path: string): string {
  return path === ROUTES.admin.path
    ? "overview"
    : (path.split("?")[0] ?? "").slice("/_admin/".length).replaceAll("/", "-");
}
