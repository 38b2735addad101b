import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { barriers } from "../support/accessibility.ts";
import { shoot } from "../support/screenshots.ts";
import { go, browserIsMissing } from "../support/browser.ts";

const PLAIN = "a-signing-secret-in-plain-text";
/** Telegram is off, so that nothing polls; its keys are checked all the same. */
const TELEGRAM = { enabled: false, botToken: { env: "TELEGRAM_BOT_TOKEN" } };
const SLACK = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: PLAIN };
const REFERRED = { ...SLACK, signingSecret: { env: "SLACK_SIGNING_SECRET" } };
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

/** Accepts the selected completion. A list that has just appeared takes no key that was meant for the text. */
async function takeOffer({ page }: Admin): Promise<void> {
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
}

test.skipIf(browserIsMissing)(
  "a config with deprecated keys is repaired from the page, and the gateway starts",
  async () => {
    const admin = await openAdmin({ config: DEPRECATED }, "crash-looping");
    const { host, page, look, refusedByPolicy } = admin;
    await page.goto(`${host.url}/`);
    // Not by a click, which the page's own reload may cancel.
    const repairs = await page.getByRole("link", { name: "Repair the configuration" }).getAttribute("href");
    await page.goto(new URL(repairs ?? "", host.url).href);
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

    await page.getByRole("button", { name: "Repair" }).click();
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
    const config = { channels: { slack: REFERRED } };
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
    await page.getByText("Line 1:").first().waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);

    expect((await page.getByLabel("The config file, JSON").inputValue()).trimEnd()).toBe(wrong.trimEnd());
    expect(await page.getByLabel("The config file, JSON").getAttribute("aria-invalid")).toBe("true");
    await edit(admin, (text) => text.replace('"name": "x", "maxSteps": 0', '"maxSteps": 7'));
    await page.getByRole("button", { name: "Save" }).waitFor();
    await look("config-review");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. A running gateway").waitFor();
    expect(page.url()).toBe(`${host.url}/_admin/config?done=saved`);
    expect(await onDisk(admin)).toEqual({ agent: { maxSteps: 7 }, ...config });
    await host.inState("ready");
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("a file that somebody else changed meanwhile is not overwritten", async () => {
  const admin = await openAdmin({ config: { channels: { slack: REFERRED } } });
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
  await page.getByText("Nothing can be repaired automatically").waitFor();
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

test.skipIf(browserIsMissing)("a file with a secret is shown without it, and cannot be edited", async () => {
  const { host, page, look, refusedByPolicy } = await openAdmin({ config: { channels: { slack: SLACK } } });
  await page.goto(`${host.url}/_admin/config/edit`);
  await page.getByText("channels.slack.signingSecret").waitFor();
  await page.getByText("steward config set <path> --env NAME").waitFor();
  expect(await page.locator("textarea").count()).toBe(0);
  expect(await page.content()).not.toContain(PLAIN);
  await look("config-secret");
  await page.getByRole("link", { name: "Find secrets" }).click();
  await page.getByText("Nothing can be repaired automatically").waitFor();
  expect(refusedByPolicy).toEqual([]);
});

test.skipIf(browserIsMissing)("the editor completes, explains, marks, mends and saves", async () => {
  const config = { channels: { slack: REFERRED } };
  const admin = await openAdmin({ config, scripts: true });
  const { host, page, refusedByPolicy } = admin;
  await page.setViewportSize({ width: 1440, height: 900 });
  const from = "/_admin/ledger?q=slack%3Aone";
  await page.goto(`${host.url}/_admin/config/edit?from=${encodeURIComponent(from)}`);
  const editor = page.getByRole("textbox", { name: "The config file, JSON" });
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");

  // Completion: a key, with its help, and a value.
  await page.keyboard.type('{\n"agent": {"maxS');
  await page.getByRole("option", { name: "maxSteps" }).waitFor();
  await page.getByText("Maximum number of requests to the model for one answer").waitFor();
  await takeOffer(admin);
  await page.keyboard.type("7");
  await page.keyboard.press("End");
  await page.keyboard.type(',\n"channels": {"slack": {"dmPolicy": ');
  await page.keyboard.press("Control+Space");
  await page.getByRole("option", { name: "disabled" }).waitFor();
  await page.keyboard.type("dis");
  await page.getByRole("option", { name: "disabled", selected: true }).waitFor();
  await takeOffer(admin);
  await expect.poll(() => page.locator("textarea").inputValue()).toContain('"dmPolicy": "disabled"');
  expect(await page.locator("textarea").inputValue()).toContain('"maxSteps": 7');

  // Hover help.
  await page.getByText('"maxSteps"').hover();
  await page.locator(".cm-help", { hasText: "agent.maxSteps" }).waitFor();

  // A mark at the line, and the key that was meant.
  await page.keyboard.type(', "chanels": {}');
  await page.keyboard.press("Escape");
  const said = page.getByRole("status").filter({ hasText: "did you mean" });
  await said.waitFor();
  await page.locator(".cm-lint-marker-error").first().waitFor();
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await barriers(page)]).toEqual([width, []]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `editor-${width}-${colorScheme}`);
    }
  }

  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByText('"chanels"', { exact: true }).hover();
  await page.getByRole("button", { name: 'Change to "channels"' }).click();
  await said.waitFor({ state: "detached" });
  expect(await page.locator("textarea").inputValue()).toContain('"channels": {}');

  // Tab leaves the editor; the review shows the change, and saving leads back.
  await editor.focus();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toContain("Review the change");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "What changes" }).waitFor();
  expect(await page.locator(".primary").count()).toBe(1);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. A running gateway").waitFor();
  // The page's script takes the notice out of the address.
  await page.waitForURL(`${host.url}${from}`);
  expect(await onDisk(admin)).toEqual({
    agent: { maxSteps: 7 },
    channels: { slack: { dmPolicy: "disabled", channels: {} } },
  });
  expect(refusedByPolicy).toEqual([]);
});
