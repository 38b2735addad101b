import path from "node:path";
import type { Page } from "playwright-core";

/** What a run leaves for a person to look at; CI keeps it. */
const FOLDER = path.resolve(".steward/artefacts/screenshots");

/** Keeps how a page looks, from its top to its end or, with `fullPage` false, as far as the screen shows it. */
export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage });
}
