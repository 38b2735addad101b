import { parseArgs } from "node:util";
import { ensureEngine } from "./index.ts";
import { BuildFailure } from "../../build/failure.ts";

// node infra/rehearsal/engine/main.ts [--docker] [--json]: finds or builds the engine and says which it is.
const { values } = parseArgs({ options: { docker: { type: "boolean" }, json: { type: "boolean" } } });
const say = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const engine = await ensureEngine({ docker: values.docker ?? false, log: say });
  const official = Object.entries(engine.official).flatMap(([name, present]) => (present ? [name] : []));
  const text = [
    `pulumi ${engine.version} (${engine.source}) ${engine.cli}`,
    `official provider plugins: ${official.join(", ") || "none"}`,
    `found in ${engine.ms} ms`,
  ].join("\n");
  process.stdout.write(`${values.json ? JSON.stringify(engine) : text}\n`);
} catch (error) {
  if (!(error instanceof BuildFailure)) throw error;
  say(error.message);
  process.exitCode = 1;
}
