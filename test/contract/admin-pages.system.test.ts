import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing } from "../support/browser.ts";
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
      return page.getByRole("heading", { name: /^Waiting for approval/ }).textContent();
    }, SOON)
    .toBe("Waiting for approval (2)");
  await look("overview");

  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("heading", { name: "Waiting for approval (2)" }).waitFor();
  await look("devices");
  const card = (user: string) => page.getByRole("listitem").filter({ hasText: user });
  await card("UANN").getByRole("button", { name: "Approve slack" }).press("Enter");
  await page.getByRole("status").getByText("Approved.").waitFor();
  await look("devices-approved");
  await card("UBOB").getByRole("button", { name: "Reject slack" }).click();
  await page.getByText("Rejected.").waitFor();
  await page.getByRole("heading", { name: "Waiting for approval (0)" }).waitFor();

  const { stdout } = await steward({ STEWARD_HOME: host.home }, "pairing", "list", "slack", "--json");
  expect(JSON.parse(stdout)).toEqual({ channel: "slack", requests: [] });
  const { body } = await allowed(host);
  expect(body).toContain("UANN");
  expect(body).not.toContain("UBOB");
  expect(refusedByPolicy).toEqual([]);
});

test.skipIf(browserIsMissing)("the operator approves a browser of the web chat and revokes it", async () => {
  const { host, page, look, refusedByPolicy } = await openAdmin();
  const browser = page.context().browser();
  const chat = await (await browser?.newContext())?.newPage();
  await chat?.goto(`${host.url}/chat`);
  await expect.poll(() => chat?.locator("#command").textContent(), SOON).toMatch(/devices approve/);

  await page.getByRole("link", { name: "Devices", exact: true }).click();
  await page.getByRole("button", { name: "Approve device" }).click();
  await page.getByRole("heading", { name: "Web chat devices (1)" }).waitFor();
  await expect.poll(() => chat?.locator("#state").textContent(), SOON).toBe("Connected");
  await look("devices-paired");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Revoked. The device is cut off within a second.").waitFor();
  await expect.poll(() => chat?.locator("#state").textContent(), SOON).toBe("Revoked");
  expect(refusedByPolicy).toEqual([]);
});

test.skipIf(browserIsMissing)(
  "the operator reads ledger, logs and config, and restarts the gateway",
  async () => {
    const { host, page, look, refusedByPolicy } = await openAdmin();
    await host.postSlack(slackEvent("Ev-a-long-id-".padEnd(120, "x")));
    const go = async (name: string) => {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await page.getByRole("link", { name, exact: true }).getAttribute("aria-current")).toBe("page");
      await look(name.toLowerCase());
    };
    await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(0);
    await go("Channels");
    await page.getByRole("listitem").filter({ hasText: "slack" }).getByText("Ready").waitFor();
    await go("Sessions");
    await page.getByRole("table", { name: /Conversations that are kept: 1/ }).waitFor();
    await go("Usage");
    await page.getByText("Messages as a table").click();
    await page.getByRole("table", { name: "Messages" }).waitFor();
    await go("Ledger");
    await page.getByLabel("State").selectOption({ label: "Failed" });
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("None.").waitFor();
    await page.getByLabel("Platform").selectOption("slack");
    await page.getByLabel("State").selectOption({ label: "All" });
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: /^slack:Ev-a-long-id/ }).waitFor();
    await go("Logs");
    expect(await page.getByRole("region").textContent()).toContain("ready");
    await go("Configuration");
    await page.getByText("The file is valid").waitFor();
    expect(await page.getByRole("region").textContent()).toContain('"slack"');
    expect(await page.content()).not.toContain(host.secrets.slackBotToken);

    const before = await host.gatewayPid();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Restart the gateway" }).click();
    await look("restart");
    await page.getByRole("button", { name: "Restart the gateway" }).click();
    await page.getByText("The gateway is being restarted.").waitFor();
    await expect.poll(() => host.gatewayPid().catch(() => before), SOON).not.toBe(before);
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
