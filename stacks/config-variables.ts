import * as pulumi from "@pulumi/pulumi";
import * as z from "zod";
import { askAsStack } from "../infra/readiness/ask-as-stack.ts";
import { missingReferences, type Reference } from "../runtime/contract/config/references.ts";
import { gatewayEnvironment } from "../runtime/contract/environment.ts";
import type { Reason } from "../runtime/contract/errors.ts";
import { ROUTES } from "../runtime/contract/routes.ts";
import type { RuntimeVariables } from "./config/runtime.ts";
import { SECRET_VARIABLES } from "./config/schema.ts";

const ANSWER_MS = 10_000;
const answer = z.object({ references: z.array(z.object({ path: z.string(), name: z.string() })) });

/**
 * Returns why the config that runs, given as parsed JSON, would not start under what a stack is about to deploy: it
 * names variables that are not set then. `undefined` where it names none of those.
 */
export function missingVariables(config: unknown, runtime: RuntimeVariables): Reason | undefined {
  return reasonFor(missingReferences(config, deployedEnvironment(runtime)));
}

/**
 * Asks the service that runs which variables its config names, and returns what {@link missingVariables} says of it;
 * empty where nothing is wrong. A service that does not answer is told as a warning; a stack without a key yet has none.
 */
export function askForMissingVariables(
  key: pulumi.Output<string>,
  { url, runtime }: { url: string; runtime: RuntimeVariables },
): pulumi.Output<string> {
  return pulumi.unsecret(key.apply(async (known) => (known ? ask(url, known, runtime) : "")));
}

async function ask(url: string, key: string, runtime: RuntimeVariables): Promise<string> {
  let references: Reference[];
  try {
    const response = await askAsStack({
      url,
      key,
      route: ROUTES.stackConfigVariables,
      timeoutMs: ANSWER_MS,
    });
    if (!response.ok) throw new Error(`it answered with ${response.status}`);
    ({ references } = answer.parse(await response.json()));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void pulumi.log.warn(`${url} did not tell which variables its config names: ${reason}`);
    return "";
  }
  const environment = deployedEnvironment(runtime);
  const problem = reasonFor(references.filter(({ name }) => !environment[name]));
  return problem === undefined ? "" : `${problem.detail}\n  fix: ${problem.fix}`;
}

/** The gateway's variables as far as a program knows them: a secret's value is not its to see. */
function deployedEnvironment({ variables, secrets }: RuntimeVariables): Record<string, string> {
  const set = Object.keys(secrets).map((name) => [name, "set"] as const);
  return gatewayEnvironment({ ...variables, ...Object.fromEntries(set) });
}

function reasonFor(missing: readonly Reference[]): Reason | undefined {
  if (missing.length === 0) return undefined;
  const told = missing.map(({ path, name }) => `${path} names ${name}`).join(", ");
  const commands = [...new Set(missing.map(({ name }) => name))].map((name) => `\`${settingCommand(name)}\``);
  return {
    code: "config_variables_missing",
    detail: `The config that runs names what this deployment does not set: ${told} (config_variables_missing).`,
    fix: `Set each of them again (${commands.join(", ")}), or take what names it out of the config first: on /_admin/config/edit, or by \`steward config unset\` in the container.`,
  };
}

function settingCommand(name: string): string {
  const key = Object.entries(SECRET_VARIABLES).find(([, variable]) => variable === name)?.[0];
  return key === undefined
    ? `pulumi config set --path --secret 'steward:secrets.${name}'`
    : `pulumi config set --secret steward:${key}`;
}
