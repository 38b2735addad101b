/** `npm run pulumi -- <arguments>`: runs the Pulumi CLI with this checkout's Node first on PATH. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { explain, explanationText } from "../../infra/shell/explain.ts";
import { commandLine, commandsFor, PULUMI_LAUNCHER } from "../../infra/shell/package.ts";
import { cliEnvironment, requireCli } from "./deployed/cli.ts";
import { printError } from "../../runtime/shared/terminal.ts";

const env = { ...process.env, ...cliEnvironment(), [PULUMI_LAUNCHER]: commandLine("pulumi") };
try {
  await requireCli(env);
} catch (error) {
  printError(`${explanationText(explain(error, commandsFor()))}\n`);
  process.exit(1);
}
const cli = spawn("pulumi", process.argv.slice(2), { env, stdio: "inherit" });
// Ignore these signals: the terminal also sends them to the CLI, and this process waits until the CLI exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
const [code, signal] = (await once(cli, "close")) as [number | null, NodeJS.Signals | null];
process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
