import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { StewardError } from "../../contract/errors.ts";
import { undo as undoOperation } from "../../operations/undo.ts";
import { parseJson } from "../../shared/json.ts";
import { readFields } from "../form.ts";
import { operate } from "../operate.ts";
import { isPage } from "../ui/console.tsx";
import { finishChange } from "./change.ts";
import { type Done, UNDO_COOKIE, UNDO_MS } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

export interface Removal {
  detail: string;
  result: unknown;
}

/** An operator's last removal, which can still be undone. */
interface Offer {
  token: string;
  until: number;
  detail: string;
  records: string[];
}

/** Storage key of an operator's last removal. */
const slotOf = (context: PageContext) => `undo ${context.get("identity").name}`;

/** Offers to undo removals if all of them can be undone. A cookie restricts the offer to this browser. */
export async function offerUndo(
  context: PageContext,
  { answers, clock }: AdminOptions,
  done: Done,
  removals: readonly Removal[],
): Promise<void> {
  const records = removals.flatMap(({ result }) => (Object(result) as { undo?: string }).undo ?? []);
  if (records.length === 0 || records.length < removals.length) return;
  const token = `${done}.${crypto.randomUUID()}`;
  const detail = removals.map((one) => one.detail).join(", ");
  const offer = { token, until: clock() + UNDO_MS, detail, records };
  // Do not fail if the offer cannot be stored: the removal has succeeded.
  const isKept = await answers.keepAnswer(slotOf(context), JSON.stringify(offer)).then(
    () => true,
    () => false,
  );
  const secure = new URL(context.req.url).protocol === "https:";
  if (isKept)
    setCookie(context, UNDO_COOKIE, token, {
      path: "/_admin",
      httpOnly: true,
      sameSite: "Strict",
      secure,
      maxAge: UNDO_MS / 1_000,
    });
}

/** `POST /_admin/undo`, fields `undo` and `page`: undoes this browser's last removal, once and within `UNDO_MS`. */
export async function undoRemoval(context: PageContext, options: AdminOptions): Promise<Response> {
  const { answers, clock, sandbox } = options;
  const form = { undo: /^\w+\.[\w-]{36}$/, page: /^\/[\w/]+$/ };
  const { undo, page } = await readFields(context.req.raw, form);
  if (!isPage(page)) throw new StewardError("form_invalid");
  const slot = slotOf(context);
  const offer = parseJson((await answers.lastAnswer(slot))?.text ?? "") as Offer | undefined;
  const isOwn = offer?.token === undo && getCookie(context, UNDO_COOKIE) === undo;
  const restore = async () => {
    if (!isOwn || clock() > offer.until) throw new StewardError("undo_over");
    // Clear the offer first, so that it cannot be used twice.
    await answers.keepAnswer(slot, "{}");
    for (const record of offer.records) await operate(sandbox, undoOperation, { record });
  };
  deleteCookie(context, UNDO_COOKIE, { path: "/_admin" });
  const change = {
    action: "undo",
    detail: offer?.detail ?? "",
    page: { path: page },
    done: "undone" as const,
  };
  return finishChange(context, options, restore(), change);
}
