import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Page } from "playwright-core";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { findings } from "../support/accessibility.ts";
import { adminPages } from "../support/admin-browser.ts";
import { browserIsMissing, openBrowser, signIn } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { startHost } from "../support/host.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { shoot } from "../support/screenshots.ts";
import { startWorker } from "../support/worker.ts";

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

const ADMIN_PAGES = adminPages(QUERIES);

type Scheme = (typeof SCHEMES)[number];

/** Looks at pages in one state of the gateway, and keeps how each looks at each width. */
class Viewer {
  /** Findings of axe, and pages that are wider than the screen. */
  readonly found: string[] = [];
  readonly #page: Page;
  readonly #suffix: string;

  constructor(page: Page, state: string, scheme: Scheme) {
    this.#page = page;
    this.#suffix = `${state}-${scheme}`;
  }

  async look(name: string, except: readonly string[] = []): Promise<void> {
    for (const width of WIDTHS) {
      await this.#page.setViewportSize({ width, height: 800 });
      await shoot(this.#page, `${name}-${width}-${this.#suffix}`);
      const told = (await findings(this.#page)).filter((one) => !except.some((rule) => one.startsWith(rule)));
      this.found.push(...told.map((finding) => `${name}, ${width} px: ${finding}`));
      const wide = await this.#page.evaluate<number>("document.documentElement.scrollWidth");
      if (wide > width) this.found.push(`${name}, ${width} px: it is wider than the screen`);
    }
  }

  /** Looks at every page of the administration. */
  async tour(url: string): Promise<void> {
    for (const path of ADMIN_PAGES) {
      await this.#page.goto(`${url}${path}`);
      await this.look(nameOf(path));
    }
  }
}

/** A host whose operator is signed in, and who looks at it. */
async function openHost(state: string, colorScheme: Scheme) {
  const host = await startHost();
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const page = await openBrowser({ colorScheme });
  const viewer = new Viewer(page, state, colorScheme);
  await page.goto(`${host.url}/_admin/`);
  if (state === "busy") await viewer.look("sign-in");
  await signIn(page, host.secrets.adminToken);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return { host, page, viewer };
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

// A test for each state and scheme: each looks at every page at every width, which takes a slow machine minutes.
describe.skipIf(browserIsMissing).for(SCHEMES)(
  "axe finds nothing, wide or narrow, in the %s scheme",
  (scheme) => {
    test("while nothing has happened yet", { timeout: 600_000 }, async () => {
      const { host, viewer } = await openHost("empty", scheme);
      await viewer.tour(host.url);
      expect(viewer.found).toEqual([]);
    });

    test("on a busy day", { timeout: 600_000 }, async () => {
      const { host, page, viewer } = await openHost("busy", scheme);
      useForAMonth(host.home);
      await host.postSlack(slackEvent("Ev1"));
      const direct = {
        type: "message",
        channel_type: "im",
        channel: "DANN",
        user: "UANN",
        ts: "1795000000.2",
      };
      await host.postSlack(slackEvent("Ev2", direct));
      await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(1);
      await page.goto(`${host.url}/`);
      await viewer.look("home");
      await page.goto(`${host.url}/chat`);
      await page.locator("#pairing").waitFor();
      await viewer.look("chat");
      await viewer.tour(host.url);
      expect(viewer.found).toEqual([]);
    });

    test("while the gateway crashes", { timeout: 600_000 }, async () => {
      const { host, page, viewer } = await openHost("broken", scheme);
      await host.postSlack(slackEvent("Ev1"));
      await host.writeConfig({ channels: { telegram: { dm: {} } }, unknown: 1 });
      process.kill(await host.gatewayPid(), "SIGKILL");
      await host.inState("crash-looping");
      await page.goto(`${host.url}/`);
      // The page reloads itself until the gateway answers. Here it has to stand still.
      await page.route(`${host.url}/`, (route) => route.abort("aborted"));
      await viewer.look("wait", ["meta-refresh"]);
      // Away from it first: its next refresh would call the way to another page off.
      await page.goto("about:blank");
      await viewer.tour(host.url);
      expect(viewer.found).toEqual([]);
    });

    test("while the container sleeps", { timeout: 600_000 }, async () => {
      const { variables, headers } = await identityGateway();
      const worker = await startWorker({ ...variables, SANDBOX_SLEEP_AFTER: "1s" });
      onTestFinished(() => worker.stop());
      const url = await worker.origin();
      await worker.inState("stopped");
      const page = await openBrowser({ colorScheme: scheme, extraHTTPHeaders: headers });
      const viewer = new Viewer(page, "asleep", scheme);
      for (const path of ADMIN_PAGES) {
        // As a page that was left open asks for itself again, which wakes nothing.
        await page.goto(`${url}${path}${path.includes("?") ? "&" : "?"}follow=1`);
        const shown = page.url();
        const isLed = !shown.includes("follow=1");
        // With `follow`, the Logs page reloads itself, which would interrupt the checks.
        await page.route(
          ({ href }) => href === shown,
          (route) => (route.request().isNavigationRequest() ? route.abort("aborted") : route.fallback()),
        );
        await viewer.look(nameOf(path), ["meta-refresh"]);
        // Leave the page first: its next reload would abort the navigation to another page.
        await page.goto("about:blank");
        await page.unrouteAll();
        // Without a problem, the pages of the repairs lead to another, which an operator has opened.
        if (isLed) await worker.inState("stopped");
        expect([path, await worker.state()]).toEqual([path, "stopped"]);
      }
      expect(viewer.found).toEqual([]);
    });
  },
);

function nameOf(path: string): string {
  return path === ROUTES.admin.path
    ? "overview"
    : (path.split("?")[0] ?? "").slice("/_admin/".length).replaceAll("/", "-");
}
