/** Writes a stack's Slack app manifest. Needs no backend and no secret. */
import { commandLine } from "../../infra/shell/package.ts";
import { writeFile } from "node:fs/promises";
import { Argument } from "commander";
import * as z from "zod";
import { slackManifest } from "../../infra/channels/slack-manifest.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { StewardError } from "../../runtime/contract/errors.ts";
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { PROPERTIES } from "../../infra/gateway/properties.ts";
import { addressProblems, publicHost } from "../../infra/gateway/rules.ts";
import { formatProblems, keyProblem, stewardValues, WORKER } from "../config/find.ts";
import { keyWording } from "../config/keys.ts";
import { readSettings } from "./settings.ts";

const SCRIPT = commandLine("slack-manifest");
const address = z.url({ protocol: /^https$/ });

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    'Writes the manifest of a stack\'s Slack app. To create the app from it, choose "From a manifest" at https://api.slack.com/apps.',
  )
    .addArgument(new Argument("<stack>", "the stack's name"))
    .option(
      "--url <address>",
      "the service's public https address (default: from the settings of a serverless stack)",
    )
    .option("--settings <folder>", "folder of Pulumi.<stack>.yaml (default: from Pulumi.yaml)")
    .option("--out <file>", "output file (default: standard output)")
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { url: given, settings, out } = command.opts<{ url?: string; settings?: string; out?: string }>();
  if (given !== undefined && !address.safeParse(given).success) {
    throw usageError("--url is not an https address; write it like https://steward.example.com");
  }

  const url = given?.replace(/\/+$/, "") ?? (await addressOf(settings, stack));
  const text = `${JSON.stringify(JSON.parse(slackManifest(url)), undefined, 2)}\n`;
  if (out === undefined) {
    say(text);
    return 0;
  }
  await writeFile(out, text);
  say(`Wrote the manifest for ${url} to ${out}\n`);
  return 0;
}

/** Returns the service's public address from the settings, even if secrets or other keys are missing. */
async function addressOf(settings: string | undefined, stack: string): Promise<string> {
  const source = await readSettings(settings, stack);
  const given = stewardValues(source);
  if (given["target"] === "serverless") {
    const valid = (key: string): unknown => PROPERTIES.serverless[key]?.safeParse(given[key]).data;
    const [rehearsed, subdomain, hostname] = ["origin", "subdomain", "hostname"].map(valid);
    const host = publicHost({ workerName: valid("workerName") ?? WORKER, subdomain, hostname });
    const problems = addressProblems(given, keyWording(source.commands));
    const wrong = problems.map((problem) => keyProblem(problem, source));
    if (wrong.length > 0) throw new StewardError("stack_config_invalid", formatProblems(wrong), { fix: "" });
    if (typeof rehearsed === "string") return rehearsed;
    if (host !== undefined) return `https://${host}`;
  }
  const { script, configSet } = source.commands;
  throw new BuildFailure(
    "public_address_missing",
    `the settings of ${stack} contain no public address`,
    given["target"] === "serverless"
      ? `\`${configSet("steward:subdomain", "<name on workers.dev>")}\`, or \`${configSet("steward:hostname", "<host name>")}\``
      : `Pass it: \`${script("slack-manifest", "--url", "<https address>")}\``,
  );
}

await runCommand(SCRIPT, main);
