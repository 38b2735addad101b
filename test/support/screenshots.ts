import path from "node:path";
import type { Page } from "playwright-core";

/** CI stores this folder for manual review. */
const FOLDER = path.resolve(".steward/artefacts/screenshots");

export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage });
}
