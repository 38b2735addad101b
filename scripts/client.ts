/**
 * `npm run client`: bundles the pages' scripts, runtime/edge/client, into the module that the pages name them from.
 * That one is committed, since the edge also runs from its source.
 */
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { commandParser, runCommand, type CommandOutput } from "../infra/shell/command.ts";

const SCRIPT = "npm run client --";
const MODULE = "runtime/edge/pages/scripts.ts";
const SCRIPTS = { CHAT_SCRIPT: "chat", LOGS_SCRIPT: "logs", LIVE_SCRIPT: "live" };
const HEAD =
  "/** Made from runtime/edge/client by `npm run client`: the scripts of the pages, each with its modules. */\n";

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, `Bundles the pages' scripts into ${MODULE}.`)
    .option("--check", "only check that the module is up to date", false)
    .parse(argv, { from: "user" });
  const declarations = await Promise.all(Object.entries(SCRIPTS).map(declaration));
  const bundled = HEAD + declarations.join("");
  if (!command.opts<{ check: boolean }>().check) await writeFile(MODULE, bundled);
  else if (bundled !== (await readFile(MODULE, "utf8"))) {
    say(`${MODULE} is not what runtime/edge/client makes. Fix: npm run client\n`);
    return 1;
  }
  return 0;
}

async function declaration([name, file]: [string, string]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`runtime/edge/client/${file}.ts`],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
  });
  return `export const ${name} =\n  ${JSON.stringify(outputFiles[0]?.text.trim())};\n`;
}

await runCommand(SCRIPT, main);
