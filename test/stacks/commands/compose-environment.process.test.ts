import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

/** What Pulumi gives a program whose settings name an ESC environment: the file's values and the environment's. */
const CONFIG = {
  "steward:target": { value: "host", secret: false },
  "steward:logLevel": { value: "debug", secret: false },
  "steward:anthropicApiKey": { value: "sk-of-the-environment", secret: true },
  "steward:slackBotToken": { value: "xoxb-of-the-environment", secret: true },
  "steward:secrets": { value: '{"MISTRAL_API_KEY":"mistral-of-the-environment"}', secret: true },
  "steward:variables": { value: '{"REGION":"europe-west"}', secret: false },
  "steward:slackSigningSecret": { value: "of-the-environment", secret: true },
};

/**
 * Stands in for the CLI with a stack in Pulumi Cloud, which alone has ESC
 * (https://www.pulumi.com/docs/esc/integrations/infrastructure/pulumi-iac/). Knows the calls of this one command.
 */
const PULUMI = `#!/bin/sh
case "$*" in
  version*) echo v3.250.0 ;;
  whoami*) echo somebody ;;
  "stack select"*) ;;
  config*--json*) cat "\${0%/*}/config.json" ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
`;

test("compose reads the values of an ESC environment as the program gets them, and writes none of the secrets", async () => {
  const folder = await temporaryDirectory();
  const bin = join(folder, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "pulumi"), PULUMI);
  await chmod(join(bin, "pulumi"), 0o755);
  await writeFile(join(bin, "config.json"), JSON.stringify(CONFIG));
  const settings = "environment:\n  - steward/shared\nconfig:\n  steward:target: host\n";
  await writeFile(join(folder, "Pulumi.host.yaml"), settings);

  const env = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter) };
  const words = ["stacks/commands/compose.ts", "host", "--settings", folder, "--out", folder];
  const { code, stderr } = await runProcess(process.execPath, words, { env });

  expect(stderr).toBe("");
  expect(code).toBe(0);
  const compose = await readFile(join(folder, "compose.yaml"), "utf8");
  const secrets = await readFile(join(folder, ".env.example"), "utf8");
  expect(compose).toContain("LOG_LEVEL: debug");
  expect(compose).toContain("REGION: europe-west");
  expect(compose).toContain("STEWARD_OWN_SECRETS: MISTRAL_API_KEY");
  for (const name of ["ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]) {
    expect(secrets).toContain(`${name}=`);
  }
  expect(compose + secrets).not.toContain("of-the-environment");
});
