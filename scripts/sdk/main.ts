/** Generates SDKs of the components for Python and Go into `sdk`: `npm run sdk`. Needs Go. */
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { ROOT } from "../../infra/shell/package.ts";
import { execute } from "../execute.ts";
import { partOf, type Schema } from "./types.ts";

const SCRIPT = "npm run sdk --";
const LANGUAGES = ["python", "go"] as const;
async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Generates the SDKs for Python and Go.")
    .option("--out <folder>", "output folder, with a subfolder per language", path.join(ROOT, "sdk"))
    .parse(argv, { from: "user" });
  const { out } = command.opts<{ out: string }>();
  const schema = JSON.parse(await readFile(path.join(ROOT, "infra/provider/schema.json"), "utf8")) as Schema;
  const input = JSON.stringify({ ...schema, ...partOf(schema, true) });
  for (const language of LANGUAGES) {
    const folder = path.resolve(out, language);
    await rm(folder, { recursive: true, force: true });
    await execute("go", ["run", ".", language, folder], {
      cwd: path.join(import.meta.dirname, "codegen"),
      input,
    });
    say(`${folder}\n`);
  }
  return 0;
}

await runCommand(SCRIPT, main);
