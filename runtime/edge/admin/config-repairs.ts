import { parseJson } from "../../shared/json.ts";
import type { Handler } from "hono";
import * as z from "zod/mini";
import { type Platform, platformSchema } from "../../contract/delivery.ts";
import { type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { lastGood } from "../backups.ts";
import { readFields, readQuery } from "../form.ts";
import { attempt } from "../operate.ts";
import { htmlPage } from "../pages/admin-frame.ts";
import type { Backups, Sandbox } from "../ports.ts";
import { type ConfigPages, EXPECTED } from "./config-edit.ts";
import { beginAfresh, readConfigText, replaceConfigText } from "./config-file.ts";
import { configFreshPage, configReviewPage, nothingToMendPage } from "./config-review.ts";
import { flashQuery } from "./flash.ts";

/** Place where each platform's section lists its groups. */
const GROUP_KEYS: Readonly<Record<Platform, string>> = {
  slack: "channels",
  telegram: "groups",
  discord: "guilds",
};
const groupQuery = () =>
  z.strictObject({
    platform: platformSchema,
    group: z.string().check(z.regex(/^-?\w{1,128}$/, "must be a group's id")),
  });

/** An archive is unpacked for it. */
const LAST_GOOD_LIMIT_MS = 30_000;

const LIMIT_MS = 10_000;
const ABOUT_MENDING =
  "What steward doctor --fix does: deprecated keys are carried over to what is there now, unknown ones are dropped. Blanks and line breaks are not compared.";
const NOTHING_TO_MEND =
  "There is no deprecated or unknown key that may be changed without a person's decision.";

/** `GET /_admin/config/mend`: what doctor would change, on the way that every change takes. */
export function mendConfig({ sandbox }: ConfigPages): Handler<AccessVariables> {
  return async function handleMendConfig(context) {
    const visitor = await context.get("visitor")();
    const { value, problem } = await attempt(LIMIT_MS, readMended(sandbox));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    const { before, edited, problems } = value;
    if (edited.text === before) return htmlPage(context, nothingToMendPage(visitor, NOTHING_TO_MEND));
    const shown = { title: "Repair", about: ABOUT_MENDING, before: laidOut(before), edited, problems };
    return htmlPage(context, configReviewPage({ visitor, ...shown }));
  };
}

/** `GET /_admin/config/fresh`: asks before it is done. */
export function confirmFresh({ sandbox }: ConfigPages): Handler<AccessVariables> {
  return async function handleConfirmFresh(context) {
    const visitor = await context.get("visitor")();
    const { value, problem } = await attempt(LIMIT_MS, readTexts(sandbox, "fresh"));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    return htmlPage(context, configFreshPage({ visitor, ...value, before: laidOut(value.before) }));
  };
}

/** `POST /_admin/config/fresh`, field `expected`: sets the file aside and restarts the gateway. */
export function freshConfig({ sandbox, log, record }: ConfigPages): Handler<AccessVariables> {
  return async function handleFreshConfig(context) {
    const { expected } = await readFields(context.req.raw, { expected: EXPECTED });
    const by = context.get("identity").name;
    log.info("operator begins with a fresh config", { by });
    await record(by, "config", "reset to defaults");
    const { problem } = await attempt(LIMIT_MS, beginAfresh(sandbox, expected));
    return context.redirect(`${ROUTES.configPage.path}${flashQuery("fresh", problem?.code)}`, 303);
  };
}

/** Returns what doctor would make of the file, and what would then still be wrong. */
async function readMended(sandbox: Sandbox) {
  const { before, after, expected } = await readTexts(sandbox, "mended");
  const edited = { text: after, expected };
  if (after === before) return { before, edited, problems: [] };
  return { before, edited, problems: (await replaceConfigText(sandbox, edited, false)).problems };
}

/** The file, and what a repair makes of it. */
async function readTexts(sandbox: Sandbox, repair: "mended" | "fresh") {
  if ((await sandbox.status()).state === "stopped") throw new StewardError("gateway_not_ready");
  const [file, repaired] = await Promise.all([
    readConfigText(sandbox, "file"),
    readConfigText(sandbox, repair),
  ]);
  if (file.sha256 !== repaired.sha256) throw new StewardError("config_changed");
  return { before: file.text ?? "", after: repaired.text ?? "", expected: file.sha256 ?? "none" };
}

/** Formats a config's text as a repair writes it, so that the diff shows only meaningful changes. */
function laidOut(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

/** Back to the config's page with what kept a repair from being shown. */
function backWith(problem: Reason | undefined): string {
  return `${ROUTES.configPage.path}${flashQuery("fresh", problem?.code ?? "gateway_unavailable")}`;
}

/** Dependencies of this repair. */
interface LastGoodOptions {
  sandbox: Sandbox;
  backups: Backups;
}

/** `GET /_admin/config/last-good`: the newest backup's config that was valid, on the way that every change takes. */
export function goBackToLastGood(options: LastGoodOptions): Handler<AccessVariables> {
  return async function handleLastGood(context) {
    const visitor = await context.get("visitor")();
    const { value, problem } = await attempt(LAST_GOOD_LIMIT_MS, readLastGood(options));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    const { id, createdAt, before, edited, problems } = value;
    if (edited.text === before) {
      return htmlPage(context, nothingToMendPage(visitor, `The file is that of the backup ${id} already.`));
    }
    const about = `The config of the backup ${id}, made ${createdAt}. Nothing else of it is restored.`;
    const comparable = edited.text === laidOut(edited.text) ? laidOut(before) : before;
    const shown = { title: "Go back to the last good config", about, before: comparable, edited, problems };
    return htmlPage(context, configReviewPage({ visitor, ...shown }));
  };
}

/** The file, the one of the last good backup, and what would then still be wrong. */
async function readLastGood({ sandbox, backups }: LastGoodOptions) {
  if ((await sandbox.status()).state === "stopped") throw new StewardError("gateway_not_ready");
  const { id, createdAt } = lastGood(await backups.list());
  const [file, good] = await Promise.all([readConfigText(sandbox, "file"), backups.configOf(id)]);
  if (file.sha256 !== good.sha256) throw new StewardError("config_changed");
  const [before, edited] = [file.text ?? "", { text: good.text ?? "", expected: file.sha256 ?? "none" }];
  if (edited.text === before) return { id, createdAt, before, edited, problems: [] };
  const { problems } = await replaceConfigText(sandbox, edited, false);
  return { id, createdAt, before, edited, problems };
}

/**
 * `GET /_admin/config/allow-group?platform=&group=`: the config with one more group in it, on the way that every
 * change takes; the ledger links here from a message that was ignored because its group is not listed.
 */
export function allowGroup({ sandbox }: ConfigPages): Handler<AccessVariables> {
  return async function handleAllowGroup(context) {
    const { platform, group } = readQuery(context, groupQuery());
    const visitor = await context.get("visitor")();
    const { value, problem } = await attempt(LIMIT_MS, readWithGroup(sandbox, platform, group));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    const { before, edited, problems } = value;
    if (edited.text === before) {
      return htmlPage(context, nothingToMendPage(visitor, `The group ${group} is in the file already.`));
    }
    const about = `Messages that address the bot in the group ${group} are answered from then on. Then deliver the ignored message again from the ledger.`;
    const shown = { title: "Answer in a group", about, before, edited, problems };
    return htmlPage(context, configReviewPage({ visitor, ...shown }));
  };
}

/** The file, and the same with the group added. */
async function readWithGroup(sandbox: Sandbox, platform: Platform, group: string) {
  const file = await readConfigText(sandbox, "file");
  const before = laidOut(file.text ?? "{}");
  const edited = { text: withGroup(before, platform, group), expected: file.sha256 ?? "none" };
  if (edited.text === before) return { before, edited, problems: [] };
  const { problems } = await replaceConfigText(sandbox, edited, false);
  return { before, edited, problems };
}

/** @throws StewardError `config_invalid` for a file that is not JSON of the right form, which is to be mended first. */
function withGroup(text: string, platform: Platform, group: string): string {
  const config = record(parseJson(text) ?? null);
  const channels = record(config["channels"]);
  const section = record(channels[platform]);
  const key = GROUP_KEYS[platform];
  const groups = record(section[key]);
  if (Object.hasOwn(groups, group)) return text;
  const added = { ...section, [key]: { ...groups, [group]: {} } };
  return laidOut(JSON.stringify({ ...config, channels: { ...channels, [platform]: added } }));
}

function record(value: unknown = {}): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new StewardError("config_invalid", "The config file is not valid. Repair it first.");
}
