import { existsSync, readFileSync } from "node:fs";
import { formatConfigProblems } from "../../contract/config/index.ts";
import { readConfigText, secretsOf } from "../../contract/config/text.ts";
import { missingCredentials } from "../../contract/config/credentials.ts";
import { wholeReading } from "../../process/config-check.ts";
import { fine, wrong, type DoctorOptions, type Finding } from "./finding.ts";

/** The config file: valid, its variables set, no secret in plain text; and the environment beside it. */
export async function checkConfigFile({ settings, environment, redact }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const path = settings.configPath;
  if (environment["TELEGRAM_DM_POLICY"]) findings.push(wrong("environment", "problem", "dm_policy_set"));
  if (!existsSync(path)) {
    const detail = `There is no config file at ${path}; the gateway's next start writes it.`;
    return [...findings, wrong("config", "warning", "config_missing", detail)];
  }
  const { value, result } = await wholeReading(readConfigText(readFileSync(path, "utf8"), environment));
  if (result.ok) {
    findings.push(fine("config", `${path} is valid`));
    for (const [platform, missing] of Object.entries(missingCredentials(environment))) {
      const detail = `${platform} stays off: ${missing.join(" and ")} is not set.`;
      findings.push(wrong("credentials", "warning", "credentials_incomplete", detail));
    }
  } else {
    const report = redact(formatConfigProblems(path, result.problems));
    findings.push(wrong("config", "problem", "config_invalid", report));
  }
  const plain = secretsOf(value).filter(({ secret }) => typeof secret === "string");
  for (const { path: at } of plain) {
    findings.push(
      wrong("secrets", "warning", "secret_in_plain", `${at} stands in the config file in plain text.`),
    );
  }
  return findings;
}
