import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { slackEvent } from "../support/edge.ts";
import { startHost } from "../support/host.ts";
import { steward } from "../runtime/support/cli.ts";

const CHROMIUM = "/usr/bin/chromium";
// CI installs it: there a missing browser fails.
const missing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The admin pages are not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (missing) process.stderr.write(REASON);
/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
/** Where screenshots go, for a person to look at. */
const SHOTS = process.env["CHAT_SCREENSHOTS"];
const PHONE = { width: 320, height: 640 };

async function open() {
  const host = await startHost();
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  // Without scripts: forms and links are all that the pages need.
  const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false });
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
      if (SHOTS !== undefined)
        await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}.png`, fullPage: true });
      expect([name, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([
        name,
        PHONE.width,
      ]);
    }
  };
  return { host, page, context, look, refusedByPolicy };
}

test.skipIf(missing)("the operator approves a sender and rejects another on a phone", async () => {
  const { host, page, look, refusedByPolicy } = await open();
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
      return page.getByRole("link", { name: /^Waiting for approval/ }).textContent();
    }, SOON)
    .toBe("Waiting for approval: 2");
  await look("overview");

  await page.getByRole("link", { name: "Waiting for approval: 2" }).click();
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

test.skipIf(missing)("the operator approves a browser of the web chat and revokes it", async () => {
  const { host, page, look, refusedByPolicy } = await open();
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

test.skipIf(missing)("the operator reads ledger, logs and config, and restarts the gateway", async () => {
  const { host, page, look, refusedByPolicy } = await open();
  await host.postSlack(slackEvent("Ev-a-long-id-".padEnd(120, "x")));
  const go = async (name: string) => {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    expect(await page.getByRole("link", { name, exact: true }).getAttribute("aria-current")).toBe("page");
    await look(name.toLowerCase());
  };
  await go("Ledger");
  await page.getByLabel("State").selectOption({ label: "Given up" });
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
});

/** The approved senders, as the debug route gives the file. */
async function allowed({ request, admin }: Awaited<ReturnType<typeof startHost>>) {
  const response = await request("/debug/cli?cmd=cat%20credentials/slack-allowFrom.json", admin);
  return { body: ((await response.json()) as { stdout: string }).stdout };
}
