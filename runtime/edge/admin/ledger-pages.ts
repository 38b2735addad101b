import type { Handler } from "hono";
import * as z from "zod/mini";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readField } from "../form.ts";
import { listQuery, replayKey } from "../ledger-routes.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import { ledgerPage } from "../pages/ledger.ts";
import type { Clock, Ledger } from "../ports.ts";
import { readQuery } from "../query.ts";
import { flashQuery, flashSchema } from "./flash.ts";

const ENTRIES = 50;
/** `<platform>:<the platform's event id>` */
const KEY = /^[a-z]+:\P{Cc}{1,256}$/u;
// Made when the page is asked for, and not at a start.
const pageQuery = () => z.extend(z.omit(listQuery(), { limit: true }), flashSchema.shape);

/** `GET /_admin/ledger?state=&platform=&before=`: counts and a page of entries; wakes nothing. */
export function showLedger(ledger: Ledger, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleLedgerPage(context) {
    const { done, problem, ...filter } = readQuery(context, pageQuery());
    const [counts, entries] = await Promise.all([
      ledger.counts(),
      ledger.list({ ...filter, limit: ENTRIES }),
    ]);
    const visitor = { identity: context.get("identity"), signsOut };
    const flash = { done, problem };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(ledgerPage({ visitor, flash, counts, filter, page: entries, now: clock() }));
  };
}

/** `POST /_admin/ledger/replay`, field `key`; then back to the list. */
export function replayFromPage(ledger: Ledger, log: Log): Handler<AccessVariables> {
  return async function handleReplayForm(context) {
    const by = context.get("identity").name;
    const [key = "", ...others] = await readField(context.req.raw, "key", KEY);
    if (others.length > 0) throw new StewardError("form_invalid");
    const back = (query: string) => context.redirect(`${ROUTES.ledgerPage.path}${query}`, 303);
    try {
      await replayKey(ledger, log, { by, key });
      return back(flashQuery("replayed"));
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      return back(flashQuery("replayed", error.code));
    }
  };
}
