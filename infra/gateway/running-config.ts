import * as pulumi from "@pulumi/pulumi";
import * as z from "zod";
import {
  misplacedKey,
  type VariableReference,
  referencesInText,
} from "../../runtime/contract/config/references.ts";
import { gatewayVariables } from "../../runtime/contract/environment.ts";
import { fixOf, type Reason } from "../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { createRedactor } from "../../runtime/shared/redact.ts";
import { askAsStack } from "../readiness/ask-as-stack.ts";
import type { RuntimeEnvironment } from "./environment.ts";
import { SECRET_ARGUMENTS } from "./properties.ts";

const ANSWER_MS = 10_000;

const answer = z.object({
  references: z.array(z.object({ path: z.string(), name: z.string(), baseUrl: z.string().optional() })),
  // Services of earlier versions omit this field.
  problems: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});

/** The secrets' values are not used. */
interface DeployedEnvironment {
  variables: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, unknown>>;
}

type RunningConfig = z.output<typeof answer>;

/**
 * Returns the reason why the gateway would not start with its running config after the deployment: a variable is
 * missing or contains another service's key, or the config is invalid.
 */
export function runningConfigProblem(
  { references, problems }: RunningConfig,
  runtime: DeployedEnvironment,
  commands: OperatorCommands,
): Reason | undefined {
  const missing = variablesProblem(references, runtime, commands);
  if (missing !== undefined || problems.length === 0) return missing;
  const told = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const detail = `The running config is not valid, and the gateway would not start: ${told.join("; ")}. (running_config_invalid)`;
  return { code: "running_config_invalid", detail, fix: fixOf("running_config_invalid") };
}

export async function judgeConfigText(
  text: string,
  runtime: DeployedEnvironment,
  commands: OperatorCommands,
): Promise<Reason | undefined> {
  // Import lazily, because the schema is large and a first update has no config to check.
  const [{ readConfigText, secretValues }, { describeProblems }] = await Promise.all([
    import("../../runtime/contract/config/text.ts"),
    import("../../runtime/contract/config/help.ts"),
  ]);
  const { value, result } = readConfigText(text, deployedEnvironment(runtime));
  const redact = createRedactor({}, secretValues(value, {}));
  const problems = result.ok ? [] : describeProblems(result.problems, text, redact);
  return runningConfigProblem({ references: referencesInText(text), problems }, runtime, commands);
}

function variablesProblem(
  references: readonly VariableReference[],
  runtime: DeployedEnvironment,
  commands: OperatorCommands,
): Reason | undefined {
  const environment = deployedEnvironment(runtime);
  const missing = references.filter(({ name }) => !environment[name]);
  const misplaced = references.flatMap((reference) => {
    const problem = misplacedKey(reference, environment);
    return problem === undefined ? [] : [`${reference.path}: ${problem}.`];
  });
  if (missing.length === 0 && misplaced.length === 0) return undefined;
  const told = missing.map(({ path, name }) => `${path} names ${name}`).join(", ");
  const settings = [...new Set(missing.map(({ name }) => name))].map((name) =>
    settingCommand(name, commands),
  );
  const fix = fixOf("config_variables_missing");
  return {
    code: "config_variables_missing",
    detail: [
      ...(told === ""
        ? []
        : [`The running config refers to variables that this deployment does not set: ${told}.`]),
      ...misplaced,
      "(config_variables_missing)",
    ].join(" "),
    fix: [
      ...(missing.length === 0 ? [] : [`${fix} To set them: ${inOrder(settings)}.`]),
      ...(misplaced.length === 0 ? [] : [misplacedFix(commands)]),
    ].join(" "),
  };
}

/**
 * Asks the running service for its config and returns the text of {@link runningConfigProblem}, or "". Logs a warning
 * if there is no response. Ignores a 404, which means that nothing is deployed or the route is missing.
 */
export function askAboutRunningConfig(
  key: pulumi.Output<string>,
  {
    url,
    environment,
    commands,
  }: {
    url: pulumi.Input<string>;
    environment: RuntimeEnvironment;
    commands: OperatorCommands;
  },
): pulumi.Output<string> {
  const { secrets } = environment;
  const problem = pulumi
    .all([key, url, pulumi.all(environment.variables)])
    .apply(async ([known, address, variables]) =>
      known ? ask(address, known, { variables, secrets }, commands) : "",
    );
  return pulumi.unsecret(problem);
}

async function ask(
  url: string,
  key: string,
  runtime: DeployedEnvironment,
  commands: OperatorCommands,
): Promise<string> {
  let config: RunningConfig;
  try {
    const response = await askAsStack({
      url,
      key,
      route: ROUTES.stackConfigVariables,
      timeoutMs: ANSWER_MS,
    });
    if (response.status === 404) return "";
    if (!response.ok) throw new Error(`it answered with ${response.status}`);
    config = answer.parse(await response.json());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void pulumi.log.warn(`Could not read the running config of ${url}: ${reason}`);
    return "";
  }
  const problem = runningConfigProblem(config, runtime, commands);
  return problem === undefined ? "" : `${problem.detail}\n  fix: ${problem.fix}`;
}

function misplacedFix({ configSet }: OperatorCommands): string {
  const set = configSet("steward:secrets.<NAME>", "<value>", { path: true, secret: true });
  return `Remove the reference to the key from the config, on \`/_admin/config/edit\` or with \`steward config unset\` in the container. Deploy with \`${set}\`, then refer to that variable in the config.`;
}

/** Returns the gateway's environment, with a placeholder for each secret's value. */
function deployedEnvironment({ variables, secrets }: DeployedEnvironment): Record<string, string> {
  const set = Object.keys(secrets).map((name) => [name, "set"] as const);
  return gatewayVariables({ ...variables, ...Object.fromEntries(set) });
}

function settingCommand(name: string, { configSet }: OperatorCommands): string {
  const isKey = Object.hasOwn(SECRET_ARGUMENTS, name);
  return isKey
    ? configSet(`steward:${keyOf(name)}`, "<value>", { secret: true })
    : configSet(`steward:secrets.${name}`, "<value>", { path: true, secret: true });
}

/** Returns the stack key, such as `slackBotToken` for `SLACK_BOT_TOKEN`. */
function keyOf(variable: string): string {
  return variable.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function inOrder(commands: readonly string[]): string {
  return commands.map((command) => `\`${command}\``).join(", then ");
}
