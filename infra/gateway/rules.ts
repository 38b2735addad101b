import { parseAlerts } from "../../runtime/contract/alerts.ts";
import { SANDBOXES } from "../../runtime/contract/environment.ts";
import { DIRECTORY_CLASS, SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { type CostInputs, formatDollars, INSTANCES, isUnknown, monthlyCost } from "../serverless/cost.ts";
import {
  checkMigrations,
  type Migration,
  missingClasses,
  repairedMigrations,
} from "../serverless/migration-list.ts";
import { BUILD, type Target } from "./args.ts";
import {
  joinRemedies,
  LATER,
  type ArgumentProblem,
  type ArgumentRule,
  type Values,
  type Wording,
} from "./problem.ts";

/** Suggested in place of `never`. */
const SHORT_SLEEP = "10m";

const DISCORD = ["discord.applicationId", "discord.publicKey", "discord.botToken"];
const COMMON: readonly ArgumentRule[] = [
  together("Slack", ["slack.botToken", "slack.signingSecret"]),
  together("Discord", DISCORD),
  loopbackTeamDomain,
  rejectDuplicates,
  keyOfNoImage,
  placeholders,
];

/**
 * Rules for each target's arguments. No rule has to require a webhook secret, because a channel without a secret
 * rejects every request.
 */
export const RULES: Record<Target, readonly ArgumentRule[]> = {
  serverless: [
    ...COMMON,
    together("Slack's manifest", ["slack.appId", "slack.configToken"]),
    together("The identity gateway", ["access.teamDomain", "access.operators"]),
    telegram,
    address,
    foreignTeamDomain,
    checkAwakeHours,
    budget,
    protectedAndEmptied,
    migrations,
    onlyWithChat,
  ],
  host: [
    ...COMMON,
    together("The identity gateway", ["access.teamDomain", "access.audience"]),
    twoSignIns,
    twoPlaces,
    emailOnHost,
    onlyWithChat,
  ],
};

function inOrder(words: Wording, ...remedies: string[]): string {
  return remedies.map((remedy) => words.quote(remedy)).join(", then ");
}

/** Requires all of these arguments or none. */
function together(what: string, paths: readonly string[]): ArgumentRule {
  return (values, words) => {
    const missing = paths.filter((path) => values[path] === undefined);
    if (missing.length === paths.length) return [];
    const given = paths.filter((path) => !missing.includes(path));
    const names = given.map((path) => words.name(path)).join(" and ");
    const removed = inOrder(words, ...given.map((path) => words.remove(path)));
    return missing.map((path) => ({
      path,
      reason: `missing: ${what} is only partly configured, with ${names}`,
      fix: `${words.quote(words.set(path))}, or ${removed}`,
    }));
  };
}

/** Returns a serverless gateway's public host name, if the values determine it. */
export function publicHost(values: Values): string | undefined {
  const { hostname, workerName, subdomain } = values;
  if (typeof hostname === "string") return hostname;
  if (typeof workerName !== "string" || typeof subdomain !== "string") return undefined;
  return workersHost(workerName, subdomain);
}

export function workersHost(workerName: string, subdomain: string): string {
  return `${workerName}.${subdomain}.workers.dev`;
}

/**
 * Rejects a webhook secret without a bot token. The reverse is valid, because the default secret is derived from the
 * token.
 */
function telegram(values: Values, words: Wording): ArgumentProblem[] {
  const [bot, secret] = ["telegram.botToken", "telegram.webhookSecret"];
  if (values[secret] === undefined || values[bot] !== undefined) return [];
  const reason = `missing: Telegram is only partly configured, with ${words.name(secret)}`;
  return [{ path: bot, reason, fix: joinRemedies(words, words.set(bot), words.remove(secret)) }];
}

/** Rejects expected hours other than 24 for a container that never sleeps, because the estimate would ignore them. */
function checkAwakeHours(
  { sleepAfter, expectedAwakeHours: hours }: Values,
  words: Wording,
): ArgumentProblem[] {
  if (sleepAfter !== "never" || hours === undefined || hours === LATER || hours === 24) return [];
  return [
    {
      path: "expectedAwakeHours",
      reason: `a container with ${words.name("sleepAfter")} never is awake for 24 hours a day`,
      fix: joinRemedies(words, words.remove("expectedAwakeHours"), words.set("sleepAfter", SHORT_SLEEP)),
    },
  ];
}

/** Rejects a public key without a custom image, because the package's own image always has a known signer. */
function keyOfNoImage({ image, imagePublicKey }: Values, words: Wording): ArgumentProblem[] {
  if (imagePublicKey === undefined || (image !== undefined && image !== BUILD)) return [];
  const reason = `given without an image's name in ${words.name("image")}`;
  const fix = joinRemedies(words, words.set("image", "<name at a registry>"), words.remove("imagePublicKey"));
  return [{ path: "imagePublicKey", reason, fix }];
}

function migrations(values: Values, words: Wording): ArgumentProblem[] {
  const path = "migrations";
  const { tenancy, [path]: given } = values;
  if (given === undefined || given === LATER) return [];
  const list = given as readonly Migration[];
  const isChat = tenancy === "chat";
  const repaired = repairedMigrations(list, isChat ? [SANDBOX_CLASS, DIRECTORY_CLASS] : [SANDBOX_CLASS]);
  const reasons = checkMigrations(list, [SANDBOX_CLASS]);
  if (isChat && missingClasses(list, [DIRECTORY_CLASS]).length > 0) {
    const entry = JSON.stringify(repaired.at(-1));
    const who = `which ${words.name("tenancy")} chat needs`;
    reasons.push(`no entry creates the class ${DIRECTORY_CLASS}, ${who}: add ${entry}`);
  }
  return reasons.map((reason) => ({ path, reason, fix: words.set(path, JSON.stringify(repaired)) }));
}

function onlyWithChat(values: Values, words: Wording): ArgumentProblem[] {
  if (values["tenancy"] === "chat") return [];
  const given = ["maxSandboxes", "canaryTenants", "monthlyChatBudget"].filter(
    (path) => values[path] !== undefined,
  );
  return given.map((path) => ({
    path,
    reason: `has no effect: all chats share one sandbox unless ${words.name("tenancy")} is chat`,
    fix: joinRemedies(words, words.set("tenancy", "chat"), words.remove(path)),
  }));
}

function protectedAndEmptied({ protectState, bucketOnDestroy }: Values, words: Wording): ArgumentProblem[] {
  if (protectState !== true || bucketOnDestroy !== "empty") return [];
  return [
    {
      path: "bucketOnDestroy",
      reason: `is empty, and ${words.name("protectState")} keeps the bucket`,
      fix: `${words.set("bucketOnDestroy", "keep")}, or ${words.set("protectState", "false")}`,
    },
  ];
}

function rejectDuplicates({ secrets, variables }: Values, words: Wording): ArgumentProblem[] {
  const names = Object.keys(Object(variables)).filter((name) => Object.hasOwn(Object(secrets), name));
  return names.map((name) => ({
    path: "variables",
    reason: `${name} is in ${words.name("secrets")} too`,
    fix: words.remove("variables", name),
  }));
}

function address({ hostname, subdomain }: Values, words: Wording): ArgumentProblem[] {
  if ((hostname === undefined) !== (subdomain === undefined)) return [];
  const path = "subdomain";
  if (hostname !== undefined) {
    const reason = `given in addition to ${words.name("hostname")}: the Worker has one address`;
    return [{ path, reason, fix: joinRemedies(words, words.remove("subdomain"), words.remove("hostname")) }];
  }
  const [name, host] = [
    words.set("subdomain", "<name on workers.dev>"),
    words.set("hostname", "<host name>"),
  ];
  return [{ path, reason: "missing: the Worker needs an address", fix: joinRemedies(words, name, host) }];
}

/** Rejects e-mail alerts on a host, because only Cloudflare can send e-mail. */
function emailOnHost({ alerts }: Values, words: Wording): ArgumentProblem[] {
  if (typeof alerts !== "string" || parseAlerts(alerts)?.email === undefined) return [];
  const fix = `${words.quote(words.set("alerts"))}, with slack or webhook instead`;
  return [{ path: "alerts", reason: "email: a host cannot send e-mail", fix }];
}

/** Rejects an admin token if an identity gateway handles sign-in, because the edge would not accept the token. */
function twoSignIns(values: Values, words: Wording): ArgumentProblem[] {
  const domain = "access.teamDomain";
  if (values["adminToken"] === undefined || values[domain] === undefined) return [];
  const without = inOrder(words, words.remove(domain), words.remove("access.audience"));
  return [
    {
      path: "adminToken",
      reason: `set together with ${words.name(domain)}: the identity gateway handles sign-in; ADMIN_TOKEN is not accepted`,
      fix: `${words.quote(words.remove("adminToken"))}, or ${without}`,
    },
  ];
}

function twoPlaces({ dataDirectory, volumeName }: Values, words: Wording): ArgumentProblem[] {
  if (dataDirectory === undefined || volumeName === undefined) return [];
  const reason = `given in addition to ${words.name("dataDirectory")}: the data is in one place`;
  const fix = joinRemedies(words, words.remove("volumeName"), words.remove("dataDirectory"));
  return [{ path: "volumeName", reason, fix }];
}

/** Hosts reserved for documentation (RFC 2606, section 3), used in the example settings. */
const RESERVED = /(?:^|[.@])example\.(?:com|net|org)$/;
const PLACEHOLDERS: Readonly<Record<string, { is: (value: unknown) => boolean; meant: string }>> = {
  accountId: { is: (value) => value === "0123456789abcdef0123456789abcdef", meant: "<the account's id>" },
  subdomain: { is: (value) => value === "example", meant: "<the account's name on workers.dev>" },
  hostname: { is: isReserved, meant: "<a host name of the account>" },
  "access.teamDomain": {
    is: (value) => value === "example.cloudflareaccess.com",
    meant: "<team>.cloudflareaccess.com",
  },
  "access.operators": {
    is: (value) => Array.isArray(value) && value.some(isReserved),
    meant: '["<your e-mail address>"]',
  },
};

/** Reports values left over from the example settings. A rehearsal may use them. */
function placeholders(values: Values, words: Wording): ArgumentProblem[] {
  if (values["origin"] !== undefined) return [];
  return Object.entries(PLACEHOLDERS)
    .filter(([path, { is }]) => is(values[path]))
    .map(([path, { meant }]) => ({
      path,
      reason: "still has the example's value",
      fix: words.set(path, meant),
    }));
}

/**
 * Returns the problems that prevent the gateway's public address from being determined: arguments that still have the
 * example's values.
 */
export function addressProblems(values: Values, words: Wording): ArgumentProblem[] {
  return placeholders(values, words).filter(({ path }) => ["subdomain", "hostname"].includes(path));
}

function isReserved(value: unknown): boolean {
  return typeof value === "string" && RESERVED.test(value);
}

const wrongTeamDomain = (reason: string, words: Wording): ArgumentProblem => ({
  path: "access.teamDomain",
  reason,
  fix: words.set("access.teamDomain", "<team>.cloudflareaccess.com"),
});

/** Rejects a loopback address as the team domain, except in a rehearsal. */
function loopbackTeamDomain(values: Values, words: Wording): ArgumentProblem[] {
  const { "access.teamDomain": teamDomain, origin } = values;
  if (typeof teamDomain !== "string" || !teamDomain.startsWith("http:") || origin !== undefined) return [];
  return [wrongTeamDomain("is this machine's own address, which only a rehearsal can use", words)];
}

/** Rejects the Worker's own host as the team domain, because the Worker would fetch the sign-in keys from itself. */
function foreignTeamDomain(values: Values, words: Wording): ArgumentProblem[] {
  const { "access.teamDomain": teamDomain, origin } = values;
  if (typeof teamDomain !== "string" || ![publicHost(values), origin].includes(teamDomain)) return [];
  return [wrongTeamDomain("is the Worker's own host; it must be the identity gateway's", words)];
}

function budget(values: Values, words: Wording): ArgumentProblem[] {
  const { monthlyBudget } = values;
  const inputs = costInputs(values);
  if (typeof monthlyBudget !== "number" || inputs === undefined || isUnknown(inputs)) return [];
  const cost = monthlyCost(inputs);
  if (cost <= monthlyBudget) return [];
  const { instanceType, sleepAfter } = inputs;
  return [
    {
      path: "monthlyBudget",
      reason: `${formatDollars(monthlyBudget)} is below the estimate of ${formatDollars(cost)} a month for ${instanceType} with ${words.name("sleepAfter")} ${sleepAfter}`,
      fix: remedy(inputs, cost, monthlyBudget, words),
    },
  ];
}

function remedy(inputs: CostInputs, cost: number, monthlyBudget: number, words: Wording): string {
  const raise = words.quote(words.set("monthlyBudget", String(Math.ceil(cost))));
  const shorter = monthlyCost({ ...inputs, sleepAfter: SHORT_SLEEP });
  if (shorter <= monthlyBudget && shorter < cost) {
    const sooner = words.quote(words.set("sleepAfter", SHORT_SLEEP));
    return `${sooner} (about ${formatDollars(shorter)} a month), or ${raise}`;
  }
  return `${raise}, or a smaller ${words.name("instanceType")}`;
}

function costInputs({
  instanceType,
  sleepAfter,
  expectedAwakeHours,
  tenancy,
  ...values
}: Values): CostInputs | undefined {
  if (typeof instanceType !== "string" || typeof sleepAfter !== "string") return undefined;
  if (!Object.hasOwn(INSTANCES, instanceType)) return undefined;
  return {
    instanceType: instanceType as CostInputs["instanceType"],
    sleepAfter,
    ...(tenancy === "chat" && { maxSandboxes: Number(values["maxSandboxes"] ?? SANDBOXES.default) }),
    ...(typeof expectedAwakeHours === "number" && { awakeHours: expectedAwakeHours }),
  };
}
