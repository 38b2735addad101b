import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RUN = 'axe.run(document, { resultTypes: ["violations"], preload: false })';

/** Everything that axe objects to, however slight: `<rule>: <the element>`. */
export async function findings(page: Page): Promise<string[]> {
  return (await violationsOf(page)).flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** What keeps people out of a page or makes it hard for them, but for some rules: `<rule>: <the element>`. */
export async function barriers(page: Page, except: readonly string[] = []): Promise<string[]> {
  const violations = await violationsOf(page);
  return violations
    .filter(({ impact, id }) => (impact === "serious" || impact === "critical") && !except.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

async function violationsOf(page: Page): Promise<AxeResults["violations"]> {
  // Put in by the debugger's way, which a page's policy does not forbid.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  return ((await page.evaluate(RUN)) as AxeResults).violations;
}
