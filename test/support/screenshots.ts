import path from "node:path";
import type { Page } from "playwright-core";

/** Output for manual review. CI stores it. */
const FOLDER = path.resolve(".steward/artefacts/screenshots");

/** Saves a screenshot of the whole page, or of the visible part if `fullPage` is false. */
export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage });
}
