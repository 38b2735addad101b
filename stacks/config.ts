import * as pulumi from "@pulumi/pulumi";
import type * as z from "zod";
import { parseAlerts, type AlertSettings } from "../runtime/contract/alerts.ts";
import { StewardError } from "../runtime/contract/errors.ts";
import { publicHost } from "./config/checks.ts";
import { findProblems, stewardValues, targetOf } from "./config/find.ts";
import { formatProblems } from "./config/problems.ts";
import { runtimeVariables, type RuntimeVariables } from "./config/runtime.ts";
import { hostSchema, SECRET_KEYS, serverlessSchema, type SecretKey } from "./config/schema.ts";
import { stackSource, type ConfigSource } from "./config/source.ts";

/** `steward:*` of a serverless stack. Every secret in it is a Pulumi secret. */
export interface ServerlessConfig extends Omit<z.output<typeof serverlessSchema>, SecretKey> {
  /** The Worker's public host name. */
  host: string;
  /** Cloudflare's API, as the stack configures it. */
  api: { token?: pulumi.Output<string>; baseUrl?: string };
  /** Changes the manifest of the app `slackAppId`. */
  slackConfigToken?: pulumi.Output<string>;
  /** The addresses of alerts by e-mail. */
  alertEmail?: AlertSettings["email"];
  runtime: RuntimeVariables;
}

/** `steward:*` of a host stack. Secrets are in `runtime` alone. */
export interface HostConfig extends Omit<z.output<typeof hostSchema>, SecretKey> {
  runtime: RuntimeVariables;
}

/** A stack's configuration, checked. */
export type StackConfig = ServerlessConfig | HostConfig;

/**
 * Reads and checks the configuration of the stack that runs. Nothing else reads it.
 *
 * @throws StewardError `stack_config_invalid` with every problem, its key and its fix.
 */
export function loadConfig(source: ConfigSource = stackSource()): StackConfig {
  const problems = findProblems(source);
  if (problems.length > 0) {
    throw new StewardError("stack_config_invalid", formatProblems(problems), { fix: "" });
  }

  const given = stewardValues(source);
  if (targetOf(given) === "host") {
    const values = hostSchema.parse(given);
    return { ...withoutSecrets(values), runtime: runtimeVariables(values) };
  }
  const values = serverlessSchema.parse(given);
  // The checks have made sure that there is a hostname or a subdomain.
  const host = publicHost(values) ?? "";
  const { slackConfigToken: token, alerts = "" } = values;
  return {
    ...withoutSecrets(values),
    host,
    api: cloudflareApi(source),
    alertEmail: parseAlerts(alerts)?.email,
    runtime: runtimeVariables(values),
    ...(token !== undefined && { slackConfigToken: pulumi.secret(token) }),
  };
}

function cloudflareApi({ values }: ConfigSource): ServerlessConfig["api"] {
  const { "cloudflare:apiToken": token, "cloudflare:baseUrl": baseUrl } = values;
  return { ...(token && { token: pulumi.secret(token) }), ...(baseUrl && { baseUrl }) };
}

function withoutSecrets<Values extends object>(values: Values): Omit<Values, SecretKey> {
  const rest = { ...values };
  for (const key of SECRET_KEYS) Reflect.deleteProperty(rest, key);
  return rest;
}
