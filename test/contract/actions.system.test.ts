import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { shoot } from "../support/screenshots.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };

const direct = (id: string, user: string) =>
  slackEvent(id, { type: "message", channel_type: "im", channel: `D${user}`, user, ts: `1795000000.${id}` });

async function open(scripts: boolean) {
  const admin = await openAdmin({ scripts });
  const { page, host } = admin;
  await page.setViewportSize({ width: 1440, height: 900 });
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const go = (path: string) => page.goto(`${host.url}/_admin/${path}`);
  return { ...admin, button, go };
}

test.skipIf(browserIsMissing).each([true, false])(
  "what was removed comes back by one button (with scripts: %s)",
  async (scripts) => {
    const { page, host, button, go, refusedByPolicy } = await open(scripts);
    await go("devices");
    await host.postSlack(direct("000101", "UANN"));
    await expect
      .poll(async () => {
        if (!scripts) await page.reload();
        return await button(/^Reject slack/).count();
      }, SOON)
      .toBe(1);
    await button(/^Reject slack/).click();
    await page.getByText("Rejected.").waitFor();
    await shoot(page, `undo-${scripts ? "scripts" : "plain"}`);
    await button("Undo").click();
    await page.getByText("Undone.", { exact: true }).waitFor();
    await button(/^Approve as operator slack/).click();

    await button(/^Revoke slack/).click();
    await page.getByText("Revoked. This person must be approved again").waitFor();
    expect(await button(/^Revoke slack/).count()).toBe(0);
    await button("Undo").click();
    await page.getByText("Undone.").waitFor();
    expect(await button(/^Make person slack/).count()).toBe(1);

    await page.setViewportSize({ width: 390, height: 800 });
    await button(/^Revoke slack/).click();
    await page.getByText("Revoked. This person").waitFor();
    await shoot(page, `undo-390-${scripts ? "scripts" : "plain"}`);
    await page.waitForTimeout(16_000);
    // A script takes the button away; without one it says that it is too late.
    if (!scripts) await button("Undo").click();
    await expect.poll(() => page.getByText("The time to undo has passed").count()).toBe(scripts ? 0 : 1);
    expect(await button("Undo").count()).toBe(0);
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("the title counts who waits, also while a field is filled in", async () => {
  const { page, host, go } = await open(true);
  await go("schedules");
  const before = await page.title();
  await page.locator("textarea").fill("a text that nobody may lose");
  await host.postSlack(direct("000102", "UBOB"));
  const count = (title: string) => Number(/^\((\d+)\) /.exec(title)?.[1] ?? 0);
  await expect.poll(async () => count(await page.title()), SOON).toBe(count(before) + 1);
  expect(await page.locator("textarea").inputValue()).toBe("a text that nobody may lose");
  expect(await page.title()).toMatch(/^\(\d+\) Schedules · steward/);
});

test.skipIf(browserIsMissing)("Ctrl-K finds pages, people and actions by the keyboard alone", async () => {
  const { page, host, go } = await open(true);
  await host.postSlack(direct("000103", "UCARLA"));
  await go("logs");
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search" });
  const field = palette.getByRole("combobox");
  await expect.poll(() => palette.getByRole("option").count()).toBeGreaterThan(10);
  await shoot(page, "palette-1440");
  await page.keyboard.type("restart");
  await expect
    .poll(() => palette.getByRole("option").allTextContents())
    .toEqual(["Restart the gatewayaction"]);
  expect(await field.getAttribute("aria-activedescendant")).toBe("found-0");
  await page.keyboard.press("Escape");
  expect(await field.isVisible()).toBe(false);

  await page.keyboard.press("Meta+k");
  await field.fill("c");
  await expect.poll(() => palette.getByRole("option").count()).toBeGreaterThan(2);
  await page.keyboard.press("ArrowUp");
  const last = (await palette.getByRole("option").count()) - 1;
  expect(await field.getAttribute("aria-activedescendant")).toBe(`found-${last}`);
  expect(await palette.getByRole("option", { selected: true }).count()).toBe(1);
  await field.fill("ucarla");
  await expect.poll(() => palette.getByRole("option").count()).toBe(1);
  await page.keyboard.press("Enter");
  await page.waitForURL(/ledger\?sender=slack/);

  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("link", { name: "Search" }).click();
  await expect.poll(() => palette.getByRole("option").count()).toBeGreaterThan(10);
  await shoot(page, "palette-390");
  await page.mouse.click(5, 790);
  expect(await field.isVisible()).toBe(false);
});
