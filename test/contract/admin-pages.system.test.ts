import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing, go } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import type { startHost } from "../support/host.ts";
import { steward } from "../runtime/support/cli.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };

test.skipIf(browserIsMissing)("the operator approves a sender and rejects another on a phone", async () => {
  const { host, page, look, refusedByPolicy } = await openAdmin();
  const direct = (id: string, user: string) =>
    host.postSlack(
      slackEvent(id, {
        type: "message",
        channel_type: "im",
        channel: `D${user}`,
        user,
        ts: `1795000000.${id}`,
      }),
    );
  await direct("000101", "UANN");
  await direct("000102", "UBOB");
  await expect
    .poll(async () => {
      await page.goto(`${host.url}/_admin/`);
      return page.getByRole("heading", { name: /^Waiting for approval/ }).allTextContents();
    }, SOON)
    .toEqual(["Waiting for approval (2)"]);
  await look("overview");

  await go(page, "Access");
  await page.getByRole("heading", { name: "Waiting for approval (2)" }).waitFor();
  await look("devices");
  const card = (user: string) => page.getByRole("listitem").filter({ hasText: user });
  await card("UANN").getByRole("button", { name: "Approve as person slack" }).press("Enter");
  await page.getByRole("status").getByText("Approved, but not as an operator").waitFor();
  await look("devices-approved");
  await card("UBOB").getByRole("button", { name: "Reject slack" }).click();
  await page.getByText("Rejected.").waitFor();
  await page.getByRole("heading", { name: "Waiting for approval (0)" }).waitFor();

  const { stdout } = await steward({ STEWARD_HOME: host.home }, "pairing", "list", "slack", "--json");
  expect(JSON.parse(stdout)).toEqual({ channel: "slack", requests: [], approved: ["UANN"], operators: [] });
  const { body } = await allowed(host);
  expect(body).toContain("UANN");
  expect(body).not.toContain("UBOB");
  expect(refusedByPolicy).toEqual([]);

  // Undone on the same page, and both are in the record.
  await page.getByRole("button", { name: "Revoke slack UANN" }).click();
  await page.getByText("Revoked. This person must be approved again").waitFor();
  await page.getByRole("heading", { name: "People (0)" }).waitFor();
  expect((await allowed(host)).body).not.toContain("UANN");
  await go(page, "Activity");
  for (const done of ["Approved", "Rejected", "Revoked"])
    await page.getByRole("cell", { name: done }).waitFor();
  await look("activity");
});

test.skipIf(browserIsMissing)("the operator approves a browser of the web chat and revokes it", async () => {
  const { host, page, look, refusedByPolicy } = await openAdmin();
  const browser = page.context().browser();
  const chat = await (await browser?.newContext())?.newPage();
  await chat?.goto(`${host.url}/chat`);
  await expect.poll(() => chat?.locator("#command").textContent(), SOON).toMatch(/devices approve/);

  await go(page, "Access");
  await page.getByRole("button", { name: "Approve as person device" }).click();
  await page.getByRole("heading", { name: "Browsers (1)" }).waitFor();
  await expect.poll(() => chat?.locator("#state").textContent(), SOON).toBe("Connected");
  await look("devices-paired");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Revoked. The device will be disconnected within a second.").waitFor();
  await expect.poll(() => chat?.locator("#state").textContent(), SOON).toBe("Revoked");
  expect(refusedByPolicy).toEqual([]);
});

test.skipIf(browserIsMissing)(
  "the operator reads ledger, logs and config, and restarts the gateway",
  async () => {
    const { host, page, look, refusedByPolicy } = await openAdmin();
    await host.postSlack(slackEvent("Ev-a-long-id-".padEnd(120, "x")));
    const visit = async (name: string) => {
      await go(page, name);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await page.locator("nav.side a[aria-current]").textContent()).toBe(name);
      await look(name.toLowerCase());
    };
    await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(0);
    await visit("Channels");
    await page.getByRole("listitem").filter({ hasText: "slack" }).getByText("Ready").waitFor();
    await visit("Conversations");
    await page.getByRole("table", { name: /Conversations: 1/ }).waitFor();
    await visit("Usage");
    await page.getByText("Messages as a table").click();
    await page.getByRole("table", { name: "Messages" }).waitFor();
    await visit("Events");
    const failed = page.getByRole("list", { name: "Filters" }).getByRole("link", { name: /^Failed/ });
    await failed.click();
    await page.getByText("No events.").waitFor();
    await failed.click();
    await page.getByLabel("Platform").selectOption("slack");
    await page.getByRole("button", { name: "Show" }).click();
    await page.locator('a[title^="slack:Ev-a-long-id"]').waitFor();
    await visit("Schedules");
    await page.getByLabel("Chat", { exact: true }).fill("slack:C1");
    await page.getByLabel("Time", { exact: true }).fill("daily");
    await page.getByLabel("Message").fill("Good morning");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("must be five fields").waitFor();
    await page.getByLabel("Time", { exact: true }).fill("0 9 * * 1-5");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("rowheader", { name: "Good morning" }).waitFor();
    await look("schedules-added");
    await page.getByRole("button", { name: /^Remove / }).click();
    await page.getByText("Nothing is scheduled.").waitFor();
    await visit("Logs");
    expect(await page.getByRole("region").textContent()).toContain("ready");
    await visit("Configuration");
    await page.getByText("The file is valid").waitFor();
    expect(await page.getByRole("region").textContent()).toContain('"slack"');
    expect(await page.content()).not.toContain(host.secrets.slackBotToken);

    const before = await host.gatewayPid();
    await go(page, "Overview");
    await page.getByRole("link", { name: "Restart the gateway" }).click();
    await look("restart");
    await page.getByRole("button", { name: "Restart the gateway" }).click();
    await page.getByText("The gateway is restarting.").waitFor();
    await expect.poll(() => host.gatewayPid().catch(() => before), SOON).not.toBe(before);
    await host.inState("ready");
    // Without scripts, a page reloads itself while the gateway starts, and loses its focus.
    await page.goto(`${host.url}/_admin/`);
    // The first stop on the way by keyboard leads past the navigation.
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    expect(refusedByPolicy).toEqual([]);
  },
);

/** The approved senders, as the debug route gives the file. */
async function allowed({ request, admin }: Awaited<ReturnType<typeof startHost>>) {
  const response = await request("/debug/cli?cmd=cat%20credentials/slack-allowFrom.json", admin);
  return { body: ((await response.json()) as { stdout: string }).stdout };
}

test.skipIf(browserIsMissing)(
  "a page shows what changes without being loaded again, and leaves alone what somebody fills in",
  async () => {
    const { host, page, refusedByPolicy } = await openAdmin({ scripts: true });
    await go(page, "Events");
    await page.getByText("No events.").waitFor();
    await page.evaluate("window.isSamePage = true");
    await host.postSlack(slackEvent("Ev000001"));
    await page.locator('a[title="slack:Ev000001"]').waitFor();

    const search = page.getByRole("searchbox", { name: "Search" });
    await search.fill("nothing like it");
    await host.postSlack(slackEvent("Ev000002"));
    await expect.poll(() => host.slack.messages().length, SOON).toBe(2);
    await page.waitForTimeout(4_000);
    expect(await page.locator('a[title="slack:Ev000002"]').count()).toBe(0);
    expect(await search.inputValue()).toBe("nothing like it");
    await search.fill("");
    await search.blur();
    await page.locator('a[title="slack:Ev000002"]').waitFor();
    expect(await page.evaluate("window.isSamePage")).toBe(true);
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("a page shows what changed before its stream of changes opened", async () => {
  const { host, page } = await openAdmin({ scripts: true });
  const opens = Promise.withResolvers<void>();
  await page.route("**/_admin/api/changes?*", async (route) => {
    await opens.promise;
    await route.continue();
  });
  await go(page, "Events");
  await page.getByText("No events.").waitFor();
  await host.postSlack(slackEvent("Ev000001"));
  await expect.poll(() => host.slack.messages().length, SOON).toBe(1);
  await page.waitForTimeout(1_000);
  opens.resolve();
  await page.locator('a[title="slack:Ev000001"]').waitFor();
});

test.skipIf(browserIsMissing)(
  "a page shows what changed while it was on its way to the browser",
  async () => {
    const { host, page } = await openAdmin({ scripts: true });
    const reloads: string[] = [];
    page.on("request", (request) => {
      if ("steward-look" in request.headers()) reloads.push(request.url());
    });
    await go(page, "Activity");
    await page.waitForTimeout(4_000);
    expect(reloads).toEqual([]);
    const changesOnItsWay = async (route: Route) => {
      const response = await route.fetch();
      await host.postSlack(slackEvent("Ev000001"));
      await expect.poll(() => host.slack.messages().length, SOON).toBe(1);
      await page.waitForTimeout(1_000);
      await route.fulfill({ response });
    };
    await page.route("**/_admin/ledger", changesOnItsWay, { times: 1 });
    await go(page, "Events");
    await page.locator('a[title="slack:Ev000001"]').waitFor({ timeout: 15_000 });
  },
);
