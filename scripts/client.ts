/** Bundles the web pages' styles and scripts into `dist/assets`: `npm run client`. */
import { readdir, rm } from "node:fs/promises";
import { bundleAssets } from "../infra/bundle/assets.ts";
import { writeFileAtomically } from "../infra/shell/cache.ts";
import { commandParser, runCommand } from "../infra/shell/command.ts";

const SCRIPT = "npm run client --";
const FOLDER = "dist/assets";

async function main(argv: string[]): Promise<number> {
  commandParser(SCRIPT, `Bundles the pages' styles and scripts into ${FOLDER}.`).parse(argv, {
    from: "user",
  });
  const { files } = await bundleAssets({ hashed: false });
  const contents = new Map([...files].map(([name, content]) => [`${name}.gz`, content]));
  for (const [name, content] of contents) await writeFileAtomically(`${FOLDER}/${name}`, content);
  // Other names may be temporary files of a concurrent run.
  const former = (await readdir(FOLDER)).filter((name) => name.endsWith(".gz") && !contents.has(name));
  for (const name of former) await rm(`${FOLDER}/${name}`, { force: true });
  return 0;
}

await runCommand(SCRIPT, main);
