import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { go, browserIsMissing } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
/** More stops than a page has. */
const MAX_TABS = 80;

type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** A mention that is answered, in a channel. */
async function say({ host }: Admin, id: string, text: string): Promise<void> {
  await host.postSlack(slackEvent(id, { text, ts: `1795000000.${id}` }));
  await host.slack.waitFor((message) => message.text.includes(text), SOON.timeout);
}

/** A stranger writes, is approved on the page, and told so. */
async function approve({ host, page }: Admin, id: string, user: string): Promise<void> {
  const direct = { type: "message", channel_type: "im", channel: `D${user}`, user, ts: `1795000000.${id}` };
  await host.postSlack(slackEvent(id, direct));
  const button = page
    .getByRole("listitem")
    .filter({ hasText: user })
    .getByRole("button", { name: "Approve as person" });
  await expect
    .poll(async () => {
      await page.goto(`${host.url}/_admin/devices`);
      return button.count();
    }, SOON)
    .toBe(1);
  await button.click();
  await page.getByText("Approved, but not as an operator").waitFor();
  const told = ({ channel, text }: { channel: string; text: string }) =>
    channel === `D${user}` && text.includes("You are approved");
  await host.slack.waitFor(told, SOON.timeout);
}

/** What is there: messages, and who was approved. */
async function state({ host }: Admin) {
  const run = async (command: string) => {
    const query = new URLSearchParams({ cmd: command });
    const response = await host.request(`/debug/cli?${query}`, host.admin);
    return ((await response.json()) as { stdout: string }).stdout;
  };
  const { sessions } = JSON.parse(await run("sessions list --json")) as { sessions: { messages: number }[] };
  const allowed = JSON.parse(await run("cat credentials/slack-allowFrom.json")) as { allowFrom: string[] };
  return { messages: sessions.map(({ messages }) => messages), approved: allowed.allowFrom };
}

/** Goes on with the Tab key until an element of this name has the focus. */
async function tabTo({ page }: Admin, name: RegExp): Promise<void> {
  const focused =
    "(document.activeElement.ariaLabel ?? (document.activeElement.labels?.[0] ?? document.activeElement).textContent)";
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    await page.keyboard.press("Tab");
    if (name.test(String(await page.evaluate(focused)).trim())) return;
  }
  throw new Error(`no element named ${name} was reached by keyboard`);
}

test.skipIf(browserIsMissing)(
  "a backup is made on the page, and restored by keyboard alone: all is as it was then",
  async () => {
    const admin = await openAdmin();
    const { host, page, look, refusedByPolicy } = admin;
    await say(admin, "000101", "my cat is called Minka");
    await approve(admin, "000102", "UANN");
    const before = await state(admin);
    expect(before).toEqual({ messages: [2], approved: ["UANN"] });

    await go(page, "Overview");
    await page.getByRole("link", { name: "Last backup: none yet" }).click();
    await look("backups-none");
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText("Backup created.").waitFor();
    const card = page.getByRole("row").filter({ hasText: "00000001-00000001" });
    await card.getByText("1 session, 2 messages, 0 schedules, 1 approval").waitFor();
    await card.getByRole("button", { name: "Verify 00000001-00000001" }).click();
    await page.getByText("Complete").waitFor();
    await look("backup-check");

    await page.goto(`${host.url}/_admin/backups`);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download 00000001-00000001" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("steward-backup-00000001-00000001.tar.zst");
    const archive = await readFile(await download.path());
    // The magic number of Zstandard.
    expect(archive.subarray(0, 4).toString("hex")).toBe("28b52ffd");

    await say(admin, "000103", "forget the cat");
    await approve(admin, "000104", "UBOB");
    expect(await state(admin)).toEqual({ messages: [4], approved: ["UANN", "UBOB"] });
    const said = host.slack.messages().length;

    await page.goto(`${host.url}/_admin/backups`);
    await tabTo(admin, /^Restore 00000001-00000001…$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Restore a backup" }).waitFor();
    expect(await page.getByRole("row", { name: /^Messages/ }).textContent()).toMatch(/4\s*2/);
    await look("backup-restore");
    await tabTo(admin, /^From the backup/);
    await tabTo(admin, /^To confirm, type/);
    await page.keyboard.type("restore");
    await tabTo(admin, /^Restore this backup/);
    await page.keyboard.press("Enter");
    await page.getByText("The backup has been restored").waitFor();
    await look("backups-restored");
    await page.getByRole("row").filter({ hasText: "Before a restore" }).waitFor();
    await page.getByRole("row").filter({ hasText: "On request" }).waitFor();

    await host.inState("ready");
    expect(await state(admin)).toEqual(before);
    // The page renews itself when the gateway is back.
    await expect
      .poll(() => page.getByRole("rowheader").locator("code").allTextContents())
      .toEqual(["00000001-00000002", "00000001-00000001"]);
    await page.getByText("1 session, 4 messages, 0 schedules, 2 approvals").waitFor();
    // The ledger's events are not rolled back: nothing is answered twice, and what comes next is.
    await say(admin, "000105", "what is my cat called?");
    expect(host.slack.messages()).toHaveLength(said + 1);
    expect((await state(admin)).messages).toEqual([4]);
    expect(refusedByPolicy).toEqual([]);
  },
  180_000,
);
