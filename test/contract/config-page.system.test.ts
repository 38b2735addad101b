import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { go, browserIsMissing } from "../support/browser.ts";

const PLAIN = "a-signing-secret-in-plain-text";
/** Telegram is off, so that nothing polls; its keys are checked all the same. */
const TELEGRAM = { enabled: false, botToken: { env: "TELEGRAM_BOT_TOKEN" } };
const SLACK = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: PLAIN };
const DEPRECATED = { channels: { telegram: { ...TELEGRAM, dm: { policy: "disabled" } }, slack: SLACK } };

type Admin = Awaited<ReturnType<typeof openAdmin>>;

async function onDisk({ host }: Admin): Promise<typeof DEPRECATED & Record<string, unknown>> {
  return JSON.parse(await readFile(join(host.home, "steward.json"), "utf8"));
}

async function copies({ host }: Admin): Promise<number> {
  return (await readdir(host.home)).filter((name) => name.startsWith("steward.json.bak-")).length;
}

/** Changes the text in the form and asks for the review. */
async function edit({ page }: Admin, change: (text: string) => string) {
  const field = page.getByLabel("The config file, JSON");
  const text = change(await field.inputValue());
  await field.fill(text);
  await page.getByRole("button", { name: "Review the change" }).click();
  return text;
}

test.skipIf(browserIsMissing)(
  "a config with deprecated keys is repaired from the page, and the gateway starts",
  async () => {
    const admin = await openAdmin({ config: DEPRECATED }, "crash-looping");
    const { host, page, look, refusedByPolicy } = admin;
    await page.goto(`${host.url}/`);
    await page.getByRole("link", { name: "Repair the configuration" }).click();
    await page.getByRole("heading", { name: "Repairs" }).waitFor();
    await page.getByText('Unrecognized key: "dm"').waitFor();
    await look("config-repairs");

    await page.getByRole("link", { name: "Migrate deprecated keys" }).click();
    await page.getByRole("heading", { name: "What changes" }).waitFor();
    expect(await page.locator("del").allTextContents()).toContain('removed -       "dm": {');
    expect(await page.locator("ins").allTextContents()).toContain('added +       "dmPolicy": "disabled"');
    expect(await page.content()).not.toContain(PLAIN);
    await look("config-mend");
    expect(await onDisk(admin)).toEqual(DEPRECATED);

    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. A running gateway").waitFor();
    await look("config-saved");
    await host.inState("ready");
    expect(await onDisk(admin)).toEqual({
      channels: { telegram: { ...TELEGRAM, dmPolicy: "disabled" }, slack: SLACK },
    });
    expect(await copies(admin)).toBe(1);
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)(
  "an edit that is wrong is refused with every problem, and one that is right is saved",
  async () => {
    const config = { channels: { slack: SLACK } };
    const admin = await openAdmin({ config });
    const { host, page, look, refusedByPolicy } = admin;
    await go(page, "Configuration");
    await page.getByRole("link", { name: "Edit the file" }).click();
    await look("config-edit");
    const wrong = await edit(admin, (text) =>
      text.replace('{"channels"', '{"agent": {"name": "x", "maxSteps": 0},\n"channels"'),
    );
    await page.getByRole("heading", { name: "Not valid: 2 problems" }).waitFor();
    await page.getByText('Unrecognized key: "name"').waitFor();
    await look("config-refused");
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);

    await page.getByRole("button", { name: "Back to editing" }).click();
    expect((await page.getByLabel("The config file, JSON").inputValue()).trimEnd()).toBe(wrong.trimEnd());
    expect(wrong).toContain('"signingSecret":"[kept secret 1]"');
    await edit(admin, (text) => text.replace('"name": "x", "maxSteps": 0', '"maxSteps": 7'));
    await page.getByRole("button", { name: "Save" }).waitFor();
    await look("config-review");
    expect(await page.content()).not.toContain(PLAIN);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. A running gateway").waitFor();
    expect(page.url()).toBe(`${host.url}/_admin/config?done=saved`);
    expect(await onDisk(admin)).toEqual({ agent: { maxSteps: 7 }, ...config });
    await host.inState("ready");
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("a file that somebody else changed meanwhile is not overwritten", async () => {
  const admin = await openAdmin({ config: { channels: { slack: SLACK } } });
  const { host, page, look } = admin;
  await page.goto(`${host.url}/_admin/config/edit`);
  await host.writeConfig({ channels: {} });
  await edit(admin, (text) => text.replace("{", '{"agent": {"maxSteps": 9},'));
  await page.getByRole("heading", { name: "The file has changed" }).waitFor();
  await page.getByText('"maxSteps": 9').waitFor();
  await look("config-changed");
  expect(await onDisk(admin)).toEqual({ channels: {} });
});

test.skipIf(browserIsMissing)("a file that nobody can mend is set aside for a fresh one", async () => {
  const admin = await openAdmin(
    { config: { channels: { slack: { ...SLACK, allowedUsers: [] } } } },
    "crash-looping",
  );
  const { host, page, look } = admin;
  await page.goto(`${host.url}/_admin/config`);
  // What may keep somebody out is never dropped by itself.
  await page.getByRole("link", { name: "Migrate deprecated keys" }).click();
  await page.getByText("without a person's decision").waitFor();
  await page.getByRole("link", { name: "Back to the configuration" }).click();
  await page.getByRole("link", { name: "Reset to defaults" }).click();
  await page.getByRole("heading", { name: "What changes" }).waitFor();
  await look("config-fresh");
  await page.getByRole("button", { name: "Reset to defaults" }).click();
  await page.getByText("The old file is set aside.").waitFor();
  await host.inState("ready");
  expect(await onDisk(admin)).toMatchObject({
    channels: { slack: { signingSecret: { env: "SLACK_SIGNING_SECRET" } } },
  });
  expect(await copies(admin)).toBe(1);
});
