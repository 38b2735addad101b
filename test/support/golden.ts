import { baseMonth } from "../../infra/bundle/base.ts";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import type { RegisteredResource } from "./registered.ts";

/**
 * Formats resources for a golden file. After an intended change, run the test with `-u` and commit the golden files.
 */
export async function golden(
  resources: readonly RegisteredResource[],
  replaced: readonly (readonly [string, string])[],
): Promise<string> {
  const { hash, worker, container } = await buildBundle();
  let text = JSON.stringify(
    resources.map(({ type, name, inputs }) => ({ type, name, inputs })),
    undefined,
    2,
  );
  for (const one of [hash, worker.hash, container.hash]) text = text.replaceAll(one, "<hash>");
  for (const [from, to] of replaced) text = text.replaceAll(from, to);
  return `${text
    .replaceAll(process.execPath, "<node>")
    .replaceAll(process.cwd(), "<checkout>")
    .replaceAll(`"${baseMonth()}"`, '"<month>"')
    .replaceAll(/steward-base:[0-9a-f]+-\d{4}-\d\d/g, "steward-base:<hash>")
    .replaceAll(/("name": "assets\/\w+)-[A-Z0-9]{8}\./g, "$1-<hash>.")
    .replaceAll(/"contentBase64": "[^"]*"/g, '"contentBase64": "<code>"')}\n`;
}
