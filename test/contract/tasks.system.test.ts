import { mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
const MAX_PAGES = 3;
const MAX_ACTIONS = 4;

type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** An operator who begins on the overview, and what a task takes: pages that are opened, and clicks, choices and fields. */
function operator({ page }: Admin) {
  const took = { pages: 0, actions: 0 };
  const begun = performance.now();
  page.on("load", () => (took.pages += 1));
  return {
    took,
    /** Follows a link of the navigation, which is in sight on a wide screen. */
    go: async (name: string) => {
      took.actions += 1;
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    },
    click: async (role: "button" | "link", name: string | RegExp) => {
      took.actions += 1;
      await page.getByRole(role, { name }).first().click();
    },
    fill: async (label: string, text: string) => {
      took.actions += 1;
      await page.getByLabel(label, { exact: true }).fill(text);
    },
    /** Ends the task: within its limits, and with its steps kept for whoever looks at the run. */
    done: async (task: string) => {
      // A text is visible before its page counts as loaded.
      await page.waitForLoadState("load");
      const ms = Math.round(performance.now() - begun);
      await mkdir(".steward/artefacts", { recursive: true });
      await writeFile(
        `.steward/artefacts/task-${task.replaceAll(" ", "-")}.json`,
        JSON.stringify({ task, ...took, ms }),
      );
      return took.pages <= MAX_PAGES && took.actions <= MAX_ACTIONS ? "within its limits" : took;
    },
  };
}

async function begin(options: Parameters<typeof openAdmin>[0] = {}, state?: string) {
  const admin = await openAdmin({ scripts: true, ...options }, state);
  await admin.page.setViewportSize({ width: 1280, height: 800 });
  return admin;
}

/** Loads the overview until it shows a text. */
async function overviewWith({ host, page }: Admin, text: string | RegExp) {
  await expect
    .poll(async () => {
      await page.goto(`${host.url}/_admin/`);
      return page.getByText(text).count();
    }, SOON)
    .toBeGreaterThan(0);
}

const direct = (id: string, user: string) =>
  slackEvent(id, { type: "message", channel_type: "im", channel: `D${user}`, user, ts: `1795000000.${id}` });

test.skipIf(browserIsMissing)("a stranger is approved in one step", async () => {
  const admin = await begin();
  await admin.host.postSlack(direct("000101", "UANN"));
  await overviewWith(admin, "Waiting for approval (1)");
  const task = operator(admin);
  await task.click("button", /^Approve as person slack/);
  await admin.page.getByText("Approved, but not as an operator").waitFor();
  expect(await task.done("approve a stranger")).toBe("within its limits");
  expect(task.took).toEqual({ pages: 1, actions: 1 });
});

test.skipIf(browserIsMissing)("why a group is silent is found, and mended, from the overview", async () => {
  const slack = {
    botToken: { env: "SLACK_BOT_TOKEN" },
    signingSecret: { env: "SLACK_SIGNING_SECRET" },
    groupPolicy: "allowlist",
  };
  const admin = await begin({ config: { channels: { slack } } });
  await admin.host.postSlack(slackEvent("Ev000001"));
  await overviewWith(admin, /^1$/);
  const task = operator(admin);
  await task.click("link", "Ignored");
  await admin.page.getByText("the group is not on the list").waitFor();
  expect(await task.done("find why a group is silent")).toBe("within its limits");
  await task.click("link", "Answer in this group");
  await task.click("button", "Save");
  await admin.page.getByRole("status").getByText("Saved.").waitFor();
  expect(await task.done("answer in a silent group")).toBe("within its limits");
});

test.skipIf(browserIsMissing)("a broken config is mended from the overview", async () => {
  const telegram = { enabled: false, botToken: { env: "TELEGRAM_BOT_TOKEN" }, dm: { policy: "disabled" } };
  const admin = await begin({ config: { channels: { telegram } } }, "crash-looping");
  await overviewWith(admin, "The gateway cannot start");
  const task = operator(admin);
  await task.click("link", "Repair the configuration");
  await task.click("link", "Migrate deprecated keys");
  await task.click("button", "Save");
  await admin.page.getByRole("status").getByText("Saved.").waitFor();
  expect(await task.done("mend a broken config")).toBe("within its limits");
  await admin.host.inState("ready");
});

test.skipIf(browserIsMissing)("a backup of before is restored", async () => {
  const admin = await begin();
  await admin.page.goto(`${admin.host.url}/_admin/backups`);
  await admin.page.getByRole("button", { name: "Back up now" }).click();
  await admin.page.getByText("Backup created.").waitFor();
  await admin.page.goto(`${admin.host.url}/_admin/`);
  const task = operator(admin);
  await task.go("Backups");
  await task.click("button", /^Restore 00000001-00000001/);
  await task.fill("To confirm, type restore", "restore");
  await task.click("button", "Restore this backup");
  await admin.page.getByText("The backup has been restored").waitFor(SOON);
  expect(await task.done("restore yesterday's backup")).toBe("within its limits");
});

test.skipIf(browserIsMissing)("a schedule is added, on the clocks of its operator", async () => {
  const admin = await begin({ timezone: "Europe/Berlin" });
  const task = operator(admin);
  await task.go("Schedules");
  await task.fill("Chat", "slack:C1");
  await task.fill("Message", "Stand up!");
  await expect.poll(() => admin.page.locator("input[data-zone]").inputValue(), SOON).toBe("Europe/Berlin");
  await task.click("button", "Add");
  await admin.page.getByText("Added.").waitFor();
  expect(await task.done("add a schedule")).toBe("within its limits");
  expect(await admin.page.getByRole("row", { name: "Stand up!" }).textContent()).toMatch(/09:00 CES?T/);
});
