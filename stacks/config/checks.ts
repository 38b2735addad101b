import { type CostInputs, dollars, INSTANCES, monthlyCost } from "../../infra/serverless/cost.ts";
import { parseAlerts } from "../../runtime/contract/alerts.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { type ConfigProblem, either, inOrder } from "./problems.ts";
import { isSecretKey } from "./schema.ts";

/** Duration that the remedy offers in place of `never`. */
const SHORT_SLEEP = "10m";

type Check = (values: Values, commands: OperatorCommands) => ConfigProblem[];

/**
 * Rules between the keys of a serverless stack. Two combinations need no check: webhooks that
 * nothing verifies, since a channel is configured with its secret or not at all and a route without one refuses
 * everything; and cron triggers beyond the plan, since schedules wake the container by the Durable Object's alarm.
 */
export const serverlessChecks: readonly Check[] = [
  (values, commands) => together(values, commands, "Slack", ["slackBotToken", "slackSigningSecret"]),
  (values, commands) => together(values, commands, "Slack's manifest", ["slackAppId", "slackConfigToken"]),
  telegram,
  discord,
  (values, commands) => together(values, commands, "The identity gateway", ["teamDomain", "operators"]),
  address,
  foreignTeamDomain,
  loopbackTeamDomain,
  polling,
  awakeAnyway,
  budget,
  protectedAndEmptied,
  ownTwice,
  placeholders,
];

/** Rules between the keys of a host stack. */
export const hostChecks: readonly Check[] = [
  (values, commands) => together(values, commands, "Slack", ["slackBotToken", "slackSigningSecret"]),
  discord,
  (values, commands) => together(values, commands, "The identity gateway", ["teamDomain", "audience"]),
  loopbackTeamDomain,
  twoSignIns,
  emailOnHost,
  ownTwice,
  placeholders,
];

/** The public host name of a serverless stack, if the values determine it. */
export function publicHost(values: Values): string | undefined {
  const { hostname, workerName, subdomain } = values;
  if (typeof hostname === "string") return hostname;
  if (typeof workerName !== "string" || typeof subdomain !== "string") return undefined;
  return `${workerName}.${subdomain}.workers.dev`;
}

/** Reports a webhook secret without a bot. A bot without one is fine: its secret is derived from its token. */
function telegram(
  { telegramBotToken, telegramWebhookSecret }: Values,
  { configSet, configRemove }: OperatorCommands,
): ConfigProblem[] {
  if (telegramWebhookSecret === undefined || telegramBotToken !== undefined) return [];
  return [
    {
      key: "steward:telegramBotToken",
      problem: "missing: Telegram is configured by half, by steward:telegramWebhookSecret alone",
      fix: either(
        configSet("steward:telegramBotToken", "<value>", { secret: true }),
        configRemove("steward:telegramWebhookSecret"),
      ),
    },
  ];
}

function discord(values: Values, commands: OperatorCommands): ConfigProblem[] {
  return together(values, commands, "Discord", [
    "discordApplicationId",
    "discordPublicKey",
    "discordBotToken",
  ]);
}

/** Reports polling: while the container sleeps nothing polls, and updates wait until something else wakes it. */
function polling({ telegramUpdates }: Values, { configRemove }: OperatorCommands): ConfigProblem[] {
  if (telegramUpdates !== "polling") return [];
  return [
    {
      key: "steward:telegramUpdates",
      problem: "polling needs a process that never sleeps, which a serverless stack does not have",
      fix: `\`${configRemove("steward:telegramUpdates")}\` (the stack sets the webhook), or deploy a host stack, which polls`,
    },
  ];
}

/** Reports expected awake hours that the estimate would ignore. */
function awakeAnyway(
  { sleepAfter, expectedAwakeHours }: Values,
  { configSet, configRemove }: OperatorCommands,
): ConfigProblem[] {
  if (sleepAfter !== "never" || expectedAwakeHours === undefined || expectedAwakeHours === 24) return [];
  return [
    {
      key: "steward:expectedAwakeHours",
      problem: "a container with steward:sleepAfter never is awake for 24 hours a day",
      fix: either(configRemove("steward:expectedAwakeHours"), configSet("steward:sleepAfter", SHORT_SLEEP)),
    },
  ];
}

/** Keys that only make sense with one another: all of them, or none. */
function together(
  values: Values,
  { configSet, configRemove }: OperatorCommands,
  what: string,
  keys: readonly string[],
): ConfigProblem[] {
  const missing = keys.filter((key) => values[key] === undefined);
  if (missing.length === keys.length) return [];
  const given = keys.filter((key) => !missing.includes(key)).map((key) => `steward:${key}`);
  return missing.map((key) => ({
    key: `steward:${key}`,
    problem: `missing: ${what} is configured by half, by ${given.join(" and ")} alone`,
    fix: `\`${configSet(`steward:${key}`, "<value>", { secret: isSecretKey(key) })}\`, or ${inOrder(...given.map((one) => configRemove(one)))}`,
  }));
}

/** A destroy cannot both keep the bucket and empty it. */
function protectedAndEmptied(
  { protectState, bucketOnDestroy }: Values,
  { configSet }: OperatorCommands,
): ConfigProblem[] {
  if (protectState !== true || bucketOnDestroy !== "empty") return [];
  return [
    {
      key: "steward:bucketOnDestroy",
      problem: "is empty, and steward:protectState keeps the bucket",
      fix: `${configSet("steward:bucketOnDestroy", "keep")}, or ${configSet("steward:protectState", "false")}`,
    },
  ];
}

/** One name has one value, secret or not. */
function ownTwice({ secrets, variables }: Values, { configRemove }: OperatorCommands): ConfigProblem[] {
  const names = Object.keys(Object(variables)).filter((name) => Object.hasOwn(Object(secrets), name));
  return names.map((name) => ({
    key: "steward:variables",
    problem: `${name} is in steward:secrets too`,
    fix: configRemove(`steward:variables.${name}`, { path: true }),
  }));
}

function address(
  { hostname, subdomain }: Values,
  { configSet, configRemove }: OperatorCommands,
): ConfigProblem[] {
  if ((hostname === undefined) !== (subdomain === undefined)) return [];
  return hostname === undefined
    ? [
        {
          key: "steward:subdomain",
          problem: "missing: the Worker needs an address",
          fix: either(
            configSet("steward:subdomain", "<name on workers.dev>"),
            configSet("steward:hostname", "<host name>"),
          ),
        },
      ]
    : [
        {
          key: "steward:subdomain",
          problem: "given beside steward:hostname: the Worker has one address",
          fix: either(configRemove("steward:subdomain"), configRemove("steward:hostname")),
        },
      ];
}

/** Cloudflare sends the e-mails. */
function emailOnHost({ alerts }: Values, { configSet }: OperatorCommands): ConfigProblem[] {
  if (typeof alerts !== "string" || parseAlerts(alerts)?.email === undefined) return [];
  return [
    {
      key: "steward:alerts",
      problem: "email: a host has nothing that sends e-mail",
      fix: `\`${configSet("steward:alerts", "<value>", { secret: true })}\`, with slack or webhook in its place`,
    },
  ];
}

/** Reports an admin token that nobody could use: the identity gateway also decides about Bearer tokens. */
function twoSignIns({ adminToken, teamDomain }: Values, { configRemove }: OperatorCommands): ConfigProblem[] {
  if (adminToken === undefined || teamDomain === undefined) return [];
  return [
    {
      key: "steward:adminToken",
      problem:
        "set together with steward:teamDomain: the identity gateway handles sign-in; ADMIN_TOKEN is not accepted",
      fix: `\`${configRemove("steward:adminToken")}\`, or ${inOrder(configRemove("steward:teamDomain"), configRemove("steward:audience"))}`,
    },
  ];
}

/** Names that no one can own (RFC 2606, section 3): the placeholders of the example settings. */
const RESERVED = /(?:^|[.@])example\.(?:com|net|org)$/;
const PLACEHOLDERS: Readonly<Record<string, { is: (value: unknown) => boolean; meant: string }>> = {
  accountId: { is: (value) => value === "0123456789abcdef0123456789abcdef", meant: "<the account's id>" },
  subdomain: { is: (value) => value === "example", meant: "<the account's name on workers.dev>" },
  hostname: { is: isReserved, meant: "<a host name of the account>" },
  teamDomain: {
    is: (value) => value === "example.cloudflareaccess.com",
    meant: "<team>.cloudflareaccess.com",
  },
  operators: {
    is: (value) => Array.isArray(value) && value.some(isReserved),
    meant: '["<your e-mail address>"]',
  },
};

/** Reports values of the example settings, such as an operator who does not exist. A rehearsal may have them. */
function placeholders(values: Values, { configSet }: OperatorCommands): ConfigProblem[] {
  if (values["origin"] !== undefined) return [];
  return Object.entries(PLACEHOLDERS)
    .filter(([key, { is }]) => is(values[key]))
    .map(([key, { meant }]) => ({
      key: `steward:${key}`,
      problem: "still has the example's value",
      fix: configSet(`steward:${key}`, meant),
    }));
}

/** Returns the problems that leave the stack's own public address unknown. */
export function addressProblems(values: Values, commands: OperatorCommands): ConfigProblem[] {
  return placeholders(values, commands).filter(({ key }) => /:(?:subdomain|hostname)$/.test(key));
}

function isReserved(value: unknown): boolean {
  return typeof value === "string" && RESERVED.test(value);
}

/** A stack that people use has its identity gateway on the internet; the rehearsal's is on this machine. */
function loopbackTeamDomain(
  { teamDomain, origin }: Values,
  { configSet }: OperatorCommands,
): ConfigProblem[] {
  if (typeof teamDomain !== "string" || !teamDomain.startsWith("http:") || origin !== undefined) return [];
  return [
    {
      key: "steward:teamDomain",
      problem: "is this machine's own address, which only a rehearsal can use",
      fix: configSet("steward:teamDomain", "<team>.cloudflareaccess.com"),
    },
  ];
}

/** Reports a team domain that is the Worker's own host: the sign-in keys would be fetched from the Worker itself. */
function foreignTeamDomain(values: Values, { configSet }: OperatorCommands): ConfigProblem[] {
  const host = publicHost(values);
  const { teamDomain, origin } = values;
  if (teamDomain === undefined || (teamDomain !== host && teamDomain !== origin)) return [];
  return [
    {
      key: "steward:teamDomain",
      problem: "is the Worker's own host; it must be the identity gateway's",
      fix: configSet("steward:teamDomain", "<team>.cloudflareaccess.com"),
    },
  ];
}

/** A budget below what the stack is estimated to cost. */
function budget(values: Values, commands: OperatorCommands): ConfigProblem[] {
  const { monthlyBudget } = values;
  const inputs = costInputs(values);
  if (typeof monthlyBudget !== "number" || inputs === undefined) return [];
  const cost = monthlyCost(inputs);
  if (cost <= monthlyBudget) return [];
  const { instanceType, sleepAfter } = inputs;
  return [
    {
      key: "steward:monthlyBudget",
      problem: `${dollars(monthlyBudget)} is below the estimate of ${dollars(cost)} a month for ${instanceType} with steward:sleepAfter ${sleepAfter}`,
      fix: remedy(inputs, cost, monthlyBudget, commands),
    },
  ];
}

function remedy(
  inputs: CostInputs,
  cost: number,
  monthlyBudget: number,
  { configSet }: OperatorCommands,
): string {
  const raise = `\`${configSet("steward:monthlyBudget", String(Math.ceil(cost)))}\``;
  const shorter = monthlyCost({ ...inputs, sleepAfter: SHORT_SLEEP });
  if (shorter <= monthlyBudget && shorter < cost) {
    return `\`${configSet("steward:sleepAfter", SHORT_SLEEP)}\` (about ${dollars(shorter)} a month), or ${raise}`;
  }
  return `${raise}, or a smaller steward:instanceType`;
}

function costInputs({ instanceType, sleepAfter, expectedAwakeHours }: Values): CostInputs | undefined {
  if (!isInstanceType(instanceType) || typeof sleepAfter !== "string") return undefined;
  return {
    instanceType,
    sleepAfter,
    ...(typeof expectedAwakeHours === "number" && { awakeHours: expectedAwakeHours }),
  };
}

function isInstanceType(value: unknown): value is CostInputs["instanceType"] {
  return typeof value === "string" && Object.hasOwn(INSTANCES, value);
}

/** The valid values; an invalid one is left out, so that it is reported once. */
export type Values = Readonly<Record<string, unknown>>;
