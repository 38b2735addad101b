import type { Handler } from "hono";
import { StewardError, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readFields } from "../form.ts";
import { configFreshPage, configReviewPage, nothingToMendPage } from "./config-review.ts";
import type { Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import { type ConfigPages, EXPECTED } from "./config-edit.ts";
import { beginAfresh, readConfigText, replaceConfigText } from "./config-file.ts";
import { flashQuery } from "./flash.ts";
import { htmlPage } from "../pages/admin-frame.ts";

const LIMIT_MS = 10_000;
const ABOUT_MENDING =
  "What steward doctor --fix does: deprecated keys are carried over to what is there now, unknown ones are dropped. Blanks and line breaks are not compared.";
const NOTHING_TO_MEND =
  "There is no deprecated or unknown key that may be changed without a person's decision.";

/** `GET /_admin/config/mend`: what doctor would change, on the way that every change takes. */
export function mendConfig({ sandbox, signsOut }: ConfigPages): Handler<AccessVariables> {
  return async function handleMendConfig(context) {
    const visitor = { identity: context.get("identity"), signsOut };
    const { value, problem } = await attempt(LIMIT_MS, readMended(sandbox));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    const { before, edited, problems } = value;
    if (edited.text === before) return htmlPage(context, nothingToMendPage(visitor, NOTHING_TO_MEND));
    const shown = { title: "Repair", about: ABOUT_MENDING, before: laidOut(before), edited, problems };
    return htmlPage(context, configReviewPage({ visitor, ...shown }));
  };
}

/** `GET /_admin/config/fresh`: asks before it is done. */
export function confirmFresh({ sandbox, signsOut }: ConfigPages): Handler<AccessVariables> {
  return async function handleConfirmFresh(context) {
    const visitor = { identity: context.get("identity"), signsOut };
    const { value, problem } = await attempt(LIMIT_MS, readTexts(sandbox, "fresh"));
    if (value === undefined) return context.redirect(backWith(problem), 303);
    return htmlPage(context, configFreshPage({ visitor, ...value, before: laidOut(value.before) }));
  };
}

/** `POST /_admin/config/fresh`, field `expected`: sets the file aside and restarts the gateway. */
export function freshConfig({ sandbox, log }: ConfigPages): Handler<AccessVariables> {
  return async function handleFreshConfig(context) {
    const { expected } = await readFields(context.req.raw, { expected: EXPECTED });
    log.info("operator begins with a fresh config", { by: context.get("identity").name });
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

/** A config's text as a repair writes it, so that only what means something is told as a change. */
export function laidOut(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

/** Back to the config's page with what kept a repair from being shown. */
export function backWith(problem: Reason | undefined): string {
  return `${ROUTES.configPage.path}${flashQuery("fresh", problem?.code ?? "gateway_unavailable")}`;
}
