import { expect, test } from "vitest";
import { findings } from "../support/accessibility.ts";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { shoot } from "../support/screenshots.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
const WIDTHS = [1440, 1024, 390];

test.skipIf(browserIsMissing)(
  "usage, logs, channels, backups and activity: figures, evidence, nothing for axe at three widths",
  async () => {
    const { host, page, refusedByPolicy } = await openAdmin({ scripts: true });
    await host.postSlack(slackEvent("000201", { text: "count me", ts: "1795000000.000201" }));
    const { ts } = await host.slack.waitFor(({ text }) => text.includes("count me"), SOON.timeout);
    const day = new Date(Number(ts) * 1_000).toISOString().slice(0, 10);
    const said = host.slack.messages().length;

    await page.goto(`${host.url}/_admin/channels`);
    await page.getByRole("button", { name: "Test Slack" }).click();
    await page.getByText(/Slack answered after \d+ ms: the token belongs to/).waitFor();
    expect(host.slack.messages()).toHaveLength(said);

    await page.goto(`${host.url}/_admin/backups`);
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText("Backup created.").waitFor();

    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${host.url}/_admin/usage?range=week`);
    const messages = page.locator("section", { has: page.getByRole("heading", { name: "Messages" }) });
    const plot = messages.locator(".u-over");
    // Moves the pointer at each attempt, because an update of the page replaces the chart.
    const figuresOf = async (place: number): Promise<string[]> => {
      const box = await plot.boundingBox();
      if (box === null) return [];
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.move(box.x + box.width * place, box.y + box.height / 2);
      return messages.locator(".u-legend .u-value").allTextContents();
    };
    // The last of the seven days, or after midnight the one before it.
    const figures = async () => {
      const last = await figuresOf(6.5 / 7);
      return last[0] === day ? last : figuresOf(5.5 / 7);
    };
    await expect.poll(figures).toEqual([day, "1", "1"]);
    await page.locator('th .person[title="slack:U1"]').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export CSV" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("steward-usage.csv");

    const backup = "backups/restore?id=00000001-00000001";
    for (const path of ["usage", "logs", "channels", "backups", backup, "activity"]) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${host.url}/_admin/${path}`);
        await shoot(page, `operation-${path.replaceAll(/\W+/g, "-")}-${width}`);
        const wide = await page.evaluate("document.documentElement.scrollWidth");
        expect([path, width, wide, await findings(page)]).toEqual([path, width, width, []]);
      }
    }
    expect(refusedByPolicy).toEqual([]);
  },
  240_000,
);
