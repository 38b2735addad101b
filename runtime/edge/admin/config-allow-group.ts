import type { Handler } from "hono";
import * as z from "zod/mini";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { AccessVariables } from "../access.ts";
import { configReviewPage, nothingToMendPage } from "./config-review.ts";
import { readQuery } from "../form.ts";
import type { Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import type { ConfigPages } from "./config-edit.ts";
import { readConfigText, replaceConfigText } from "./config-file.ts";
import { backWith, laidOut } from "./config-repairs.ts";
import { htmlPage } from "../pages/admin-frame.ts";

const LIMIT_MS = 10_000;
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

/**
 * `GET /_admin/config/allow-group?platform=&group=`: the config with one more group in it, on the way that every
 * change takes; the ledger links here from a message that was ignored because its group is not listed.
 */
export function allowGroup({ sandbox, signsOut }: ConfigPages): Handler<AccessVariables> {
  return async function handleAllowGroup(context) {
    const { platform, group } = readQuery(context, groupQuery());
    const visitor = { identity: context.get("identity"), signsOut };
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
  const config = record(parsed(text) ?? null);
  const channels = record(config["channels"]);
  const section = record(channels[platform]);
  const key = GROUP_KEYS[platform];
  const groups = record(section[key]);
  if (Object.hasOwn(groups, group)) return text;
  const added = { ...section, [key]: { ...groups, [group]: {} } };
  return laidOut(JSON.stringify({ ...config, channels: { ...channels, [platform]: added } }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown = {}): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new StewardError("config_invalid", "The config file is not valid. Repair it first.");
}
