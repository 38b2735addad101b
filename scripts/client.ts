/** Bundles the web pages' styles and scripts into `dist/assets`: `npm run client`. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { bundleAssets } from "../infra/bundle/assets.ts";
import { commandParser, runCommand } from "../infra/shell/command.ts";

const SCRIPT = "npm run client --";
const FOLDER = "dist/assets";

async function main(argv: string[]): Promise<number> {
  commandParser(SCRIPT, `Bundles the pages' styles and scripts into ${FOLDER}.`).parse(argv, {
    from: "user",
  });
  const { files } = await bundleAssets({ hashed: false });
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  for (const [name, content] of files) await writeFile(`${FOLDER}/${name}.gz`, content);
  return 0;
}

await runCommand(SCRIPT, main);
