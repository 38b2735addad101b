import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { PERSON } from "../../rehearsal/standins/slack-events.ts";
import { browserIsMissing, openBrowser, signIn } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { startHost } from "../support/host.ts";
import { steward } from "../runtime/support/cli.ts";
import { pictureSources, PICTURES, PICTURES_MADE_FROM } from "../support/pictures.ts";

const SOON = { timeout: 30_000 };
/** `npm run pictures` writes them; a usual run only shows that it can. */
const KEEPS = process.env["PICTURES"] === "1";
const SIZE = { width: 1280, height: 800 };

/** Shoots a page in both schemes. */
async function picture(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const shot = await page.screenshot();
    expect(shot.length).toBeGreaterThan(10_000);
    if (KEEPS) await writeFile(path.join(PICTURES, `${name}-${colorScheme}.png`), shot);
  }
}

/** Messages of the pictured conversation, which the stand-in model quotes. */
const CONVERSATION = [
  "Good morning! What is left for the release?",
  `Please keep this list:
- Release notes: Ada, Monday
- Load test: Grace, Tuesday

Then we run
\`\`\`sh
npm run rollout -- prod
\`\`\`
Thank you!`,
];

test.skipIf(browserIsMissing)("the README's pictures come from the real pages", async () => {
  const host = await startHost({ environment: { ENVIRONMENT_NAME: "prod" } });
  onTestFinished(() => host.stop());
  await host.inState("ready");
  for (let index = 1; index <= 5; index += 1) await host.postSlack(slackEvent(`Ev${index}`));
  await host.postSlack(
    slackEvent("Ev6", {
      type: "message",
      channel_type: "im",
      channel: "DROBIN",
      user: PERSON.id,
      ts: "1795000000.6",
    }),
  );
  await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(1);
  const run = (...args: string[]) => steward({ STEWARD_HOME: host.home }, ...args);
  const at = ["--cron", "0 9 * * 1-5", "--timezone", "Europe/Berlin"];
  const prompt = ["--prompt", "Ask everybody for their plans of the day."];
  expect(await run("schedules", "add", "--to", "slack:C1", ...at, ...prompt)).toMatchObject({ code: 0 });

  const chat = await openBrowser();
  await chat.setViewportSize(SIZE);
  await chat.goto(`${host.url}/chat`);
  await expect.poll(() => chat.locator("#command").textContent(), SOON).toMatch(/devices approve/);
  const command = (await chat.locator("#command").textContent()) ?? "";
  expect(await run(...command.split(" ").slice(1))).toMatchObject({ code: 0 });
  for (const [index, text] of CONVERSATION.entries()) {
    await chat.locator("#text:enabled").fill(text);
    await chat.keyboard.press("Enter");
    await expect.poll(() => chat.locator("article:not(.own)[aria-busy=false]").count(), SOON).toBe(index + 1);
  }
  await picture(chat, "chat");

  const page = await openBrowser();
  await page.setViewportSize(SIZE);
  await page.goto(`${host.url}/_admin/`);
  await signIn(page, host.secrets.adminToken);
  await page.getByRole("heading", { name: PERSON.profile.display_name }).waitFor();
  expect(await page.locator(".badge.production").textContent()).toBe("prod");
  await picture(page, "console");
  if (KEEPS) await writeFile(PICTURES_MADE_FROM, `${pictureSources()}\n`);
});
