import * as z from "zod/mini";
import { newestValid } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import { type Platform, platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { parseJson } from "../../shared/json.ts";
import { readFields, readQuery } from "../form.ts";
import { attempt } from "../operate.ts";
import type { Sandbox } from "../ports.ts";
import { LIMIT_MS } from "./answers.ts";
import { finishChange, recordChange } from "./change.ts";
import { EXPECTED } from "./config-edit.tsx";
import { resetConfig, repairInPlace, readConfigText, replaceConfigText } from "./config-file.ts";
import { type ConfigReview, configReviewPage, nothingToMendPage } from "./config-review.tsx";
import { goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/** Each platform's config key that lists the allowed groups. */
const GROUP_KEYS: Readonly<Record<Platform, string>> = {
  slack: "channels",
  telegram: "groups",
  discord: "guilds",
};
const groupQuery = () =>
  z.strictObject({
    platform: platformSchema,
    group: z.string().check(z.regex(/^-?\w{1,128}$/, "must be a group's id")),
    from: z.optional(z.string()),
  });

/** Timeout that includes unpacking an archive. */
const LAST_GOOD_LIMIT_MS = 30_000;

const ABOUT_MENDING =
  "Makes the same changes as steward doctor --fix: migrates deprecated keys, removes unknown keys, and, where a secret is also set in an environment variable, replaces it with a reference to that variable. The preview does not show whitespace changes.";
const NOTHING_TO_MEND =
  "Nothing can be repaired automatically: the file has no deprecated or unknown keys, and no secrets that can be replaced with a reference to an environment variable.";
const ABOUT_FRESH =
  "The gateway will keep a copy of the current file, restart, and write a new config from its environment variables. Settings that are not in those variables will be lost.";

/** A proposed config text. `nothing` is the message to show if the text would not change. */
interface Proposal extends ConfigReview {
  nothing: string;
}

async function propose(
  context: PageContext,
  repair: Promise<Proposal>,
  limitMs = LIMIT_MS,
): Promise<Response> {
  const { value, problem } = await attempt(limitMs, repair);
  if (value === undefined) return goTo(context, ROUTES.configPage, "fresh", problem);
  if (value.edited.text === value.before) return nothingToMendPage(context, value.nothing);
  return configReviewPage(context, { ...value, before: comparable(value.before, value.edited.text) });
}

async function problemsOf(sandbox: Sandbox, before: string, edited: Proposal["edited"]) {
  return edited.text === before ? [] : (await replaceConfigText(sandbox, edited, false)).problems;
}

/** `GET /_admin/config/mend`: shows what `doctor --fix` would change. */
export async function proposeRepair(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  return propose(context, repairProposal(sandbox));
}

async function repairProposal(sandbox: Sandbox): Promise<Proposal> {
  const { before, after, expected, secrets, left } = await readTexts(sandbox, "mended");
  const edited = { text: after, expected };
  const shown = { title: "Repair", about: ABOUT_MENDING, nothing: NOTHING_TO_MEND, before, edited };
  if (secrets === undefined) return { ...shown, problems: await problemsOf(sandbox, before, edited) };
  return {
    ...shown,
    problems: left,
    inPlace: { path: ROUTES.configMendNow.path, button: "Repair", tone: "primary" },
  };
}

/** `POST /_admin/config/mend`: runs `doctor --fix` if the config file's digest equals the form field `expected`. */
export async function repairConfig(context: PageContext, options: AdminOptions): Promise<Response> {
  const { expected } = await readFields(context.req.raw, { expected: EXPECTED });
  const change = { action: "config", detail: "repaired", page: ROUTES.configPage } as const;
  return finishChange(context, options, repairInPlace(options.sandbox, expected), {
    ...change,
    done: "saved",
  });
}

/** `GET /_admin/config/fresh`: shows the defaults for confirmation. */
export async function confirmFresh(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  return propose(context, proposeReset(sandbox));
}

async function proposeReset(sandbox: Sandbox): Promise<Proposal> {
  const { before, after, expected } = await readTexts(sandbox, "fresh");
  return {
    title: "Reset the configuration to defaults",
    about: ABOUT_FRESH,
    nothing: "All settings already have their default values.",
    before,
    edited: { text: after, expected },
    problems: [],
    inPlace: { path: ROUTES.configFresh.path, button: "Reset to defaults", tone: "danger" },
  };
}

/**
 * `POST /_admin/config/fresh`: if the config file's digest equals the form field `expected`, sets the file aside and
 * restarts the gateway, which writes defaults.
 */
export async function freshConfig(context: PageContext, options: AdminOptions): Promise<Response> {
  const { expected } = await readFields(context.req.raw, { expected: EXPECTED });
  await recordChange(context, options, { action: "config", detail: "reset to defaults" });
  const { problem } = await attempt(LIMIT_MS, resetConfig(options.sandbox, expected));
  return goTo(context, ROUTES.configPage, "fresh", problem);
}

async function readTexts(sandbox: Sandbox, repair: "mended" | "fresh") {
  if ((await sandbox.status()).state === "stopped") throw new StewardError("gateway_not_ready");
  const [file, repaired] = await Promise.all([
    readConfigText(sandbox, "file"),
    readConfigText(sandbox, repair),
  ]);
  if (file.sha256 !== repaired.sha256) throw new StewardError("config_changed");
  const { secrets, problems: left = [] } = repaired;
  const texts = { before: file.text ?? "", after: repaired.text ?? "" };
  return { ...texts, expected: file.sha256 ?? "none", secrets, left };
}

/**
 * Refuses configs with literal secrets, because the page would save redacted text in their place.
 *
 * @throws StewardError `secret_in_plain`
 */
function refuseSecrets(...files: ConfigText[]): void {
  if (files.some(({ secrets }) => secrets !== undefined)) throw new StewardError("secret_in_plain");
}

/**
 * Formats a config the way a repair writes it, so that the diff between the original and the repaired config shows no
 * mere formatting changes.
 */
function formatConfig(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

/** Returns the old config for a diff. Formats it only if the new config is formatted. */
function comparable(before: string, after: string): string {
  return after === formatConfig(after) ? formatConfig(before) : before;
}

/** `GET /_admin/config/last-good`: proposes the config of the newest backup that contains a valid one. */
export async function proposeLastGood(context: PageContext, options: AdminOptions): Promise<Response> {
  return propose(context, readLastGood(options), LAST_GOOD_LIMIT_MS);
}

async function readLastGood({ sandbox, backups }: AdminOptions): Promise<Proposal> {
  if ((await sandbox.status()).state === "stopped") throw new StewardError("gateway_not_ready");
  const { id, createdAt } = newestValid(await backups.list());
  const [file, good] = await Promise.all([readConfigText(sandbox, "file"), backups.configOf(id)]);
  if (file.sha256 !== good.sha256) throw new StewardError("config_changed");
  refuseSecrets(file, good);
  const [before, edited] = [file.text ?? "", { text: good.text ?? "", expected: file.sha256 ?? "none" }];
  return {
    title: "Restore the last valid config",
    about: `Restores only the config from backup ${id}, created ${createdAt}.`,
    nothing: `The file is already identical to the one in backup ${id}.`,
    before,
    edited,
    problems: await problemsOf(sandbox, before, edited),
  };
}

/** `GET /_admin/config/allow-group?platform=&group=&from=`: proposes to add a group to the config. */
export async function allowGroup(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  const { platform, group } = readQuery(context, groupQuery());
  return propose(context, proposeGroup(sandbox, platform, group));
}

async function proposeGroup(sandbox: Sandbox, platform: Platform, group: string): Promise<Proposal> {
  const file = await readConfigText(sandbox, "file");
  refuseSecrets(file);
  const before = formatConfig(file.text ?? "{}");
  const edited = { text: withGroup(before, platform, group), expected: file.sha256 ?? "none" };
  return {
    title: "Answer in a group",
    about: `After saving, the bot answers messages addressed to it in the group ${group}, and you return to the previous page, where you can replay the ignored message.`,
    nothing: `The group ${group} is already in the file.`,
    before,
    edited,
    problems: await problemsOf(sandbox, before, edited),
  };
}

/** @throws StewardError `config_invalid` if the config must be repaired before the group can be added. */
function withGroup(text: string, platform: Platform, group: string): string {
  const config = record(parseJson(text) ?? null);
  const channels = record(config["channels"]);
  const section = record(channels[platform]);
  const key = GROUP_KEYS[platform];
  const groups = record(section[key]);
  if (Object.hasOwn(groups, group)) return text;
  const added = { ...section, [key]: { ...groups, [group]: {} } };
  return formatConfig(JSON.stringify({ ...config, channels: { ...channels, [platform]: added } }));
}

function record(value: unknown = {}): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new StewardError("config_invalid", "The config file is invalid. Repair it first.");
}
