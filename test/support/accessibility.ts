import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RUN = 'axe.run(document, { resultTypes: ["violations"], preload: false })';

/** Returns every axe violation, however minor, as `<rule>: <element>`. */
export async function findings(page: Page): Promise<string[]> {
  return (await violationsOf(page)).flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Returns serious and critical axe violations, except those of some rules, as `<rule>: <element>`. */
export async function barriers(page: Page, except: readonly string[] = []): Promise<string[]> {
  const violations = await violationsOf(page);
  return violations
    .filter(({ impact, id }) => (impact === "serious" || impact === "critical") && !except.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

async function violationsOf(page: Page): Promise<AxeResults["violations"]> {
  // Injected by `evaluate`, because the page's content security policy forbids script elements.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  return ((await page.evaluate(RUN)) as AxeResults).violations;
}
