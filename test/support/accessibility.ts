import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RUN = 'axe.run(document, { resultTypes: ["violations"], preload: false })';

export async function findings(page: Page): Promise<string[]> {
  return (await violationsOf(page)).flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Returns serious and critical axe violations as `<rule>: <element>`. */
export async function barriers(page: Page, except: readonly string[] = []): Promise<string[]> {
  const violations = await violationsOf(page);
  return violations
    .filter(({ impact, id }) => (impact === "serious" || impact === "critical") && !except.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

async function violationsOf(page: Page): Promise<AxeResults["violations"]> {
  // The content security policy forbids an injected script, but does not apply to `page.evaluate`.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  return ((await page.evaluate(RUN)) as AxeResults).violations;
}
