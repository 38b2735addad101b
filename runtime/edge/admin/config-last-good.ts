import type { Handler } from "hono";
import { StewardError } from "../../contract/errors.ts";
import type { AccessVariables } from "../access.ts";
import { lastGood } from "../backups.ts";
import { configReviewPage, nothingToMendPage } from "./config-review.ts";
import type { Backups, Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import { readConfigText, replaceConfigText } from "./config-file.ts";
import { backWith, laidOut } from "./config-repairs.ts";
import { htmlPage } from "../pages/admin-frame.ts";

/** An archive is unpacked for it. */
const LIMIT_MS = 30_000;

/** Dependencies of this repair. */
export interface LastGoodOptions {
  sandbox: Sandbox;
  backups: Backups;
  signsOut: boolean;
}

/** `GET /_admin/config/last-good`: the newest backup's config that was valid, on the way that every change takes. */
export function goBackToLastGood(options: LastGoodOptions): Handler<AccessVariables> {
  return async function handleLastGood(context) {
    const visitor = { identity: context.get("identity"), signsOut: options.signsOut };
    const { value, problem } = await attempt(LIMIT_MS, readLastGood(options));
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
