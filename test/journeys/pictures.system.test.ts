import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser, signIn } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";
import { startHost } from "../support/host.ts";
import { pictureSources, PICTURES, PICTURES_MADE_FROM } from "../support/pictures.ts";

const SOON = { timeout: 30_000 };
/** `npm run pictures` writes them; a usual run only shows that it can. */
const KEEPS = process.env["PICTURES"] === "1";

test.skipIf(browserIsMissing)("the README's pictures come from the real pages", async () => {
  const host = await startHost({ environment: { ENVIRONMENT_NAME: "prod" } });
  onTestFinished(() => host.stop());
  await host.inState("ready");
  for (let index = 1; index <= 5; index += 1) await host.postSlack(slackEvent(`Ev${index}`));
  await host.postSlack(
    slackEvent("Ev6", {
      type: "message",
      channel_type: "im",
      channel: "DANN",
      user: "U04ANN",
      ts: "1795000000.6",
    }),
  );
  await expect.poll(() => host.slack.messages().length, SOON).toBeGreaterThan(1);
  const page = await openBrowser();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${host.url}/_admin/`);
  await signIn(page, host.secrets.adminToken);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await page.locator(".badge.production").textContent()).toBe("prod");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const picture = await page.screenshot();
    expect(picture.length).toBeGreaterThan(10_000);
    if (KEEPS) await writeFile(path.join(PICTURES, `console-${colorScheme}.png`), picture);
  }
  if (KEEPS) await writeFile(PICTURES_MADE_FROM, `${pictureSources()}\n`);
});
