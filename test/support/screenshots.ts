import path from "node:path";
import type { Page } from "playwright-core";

/** CI stores this folder for manual review. */
const FOLDER = path.resolve(".steward/artefacts/screenshots");

export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  const options = { path: path.join(FOLDER, `${name}.png`), fullPage };
  await page.screenshot(options).catch((error: unknown) => {
    // Chromium sometimes cannot capture a long page.
    if (!String(error).includes("Unable to capture screenshot")) throw error;
    return page.screenshot(options);
  });
}
