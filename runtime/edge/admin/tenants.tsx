import type { Context, MiddlewareHandler } from "hono";
import * as z from "zod/mini";
import { setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";
import { ROUTES } from "../../contract/routes.ts";
import { chatOfTenant, isTenantId, type Renewal, type TenantId } from "../../contract/tenant.ts";
import { CHAT_PARAMETER, readFields, readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import type { LedgerCounts } from "../ports.ts";
import { adminPage } from "../ui/console.tsx";
import { ageColumn } from "../ui/time.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { type ListingQuery, listingQuery, ListTable } from "../ui/listing.tsx";
import { nameOf, type Names, personColumn, platformOf } from "../ui/person.tsx";
import { sendProblem } from "../problems.ts";
import type { Tenant } from "../tenants/ports.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const TENANT_COOKIE = "steward-chat";
const ROWS = 500;
/** A tenant id, or an empty value to select no tenant. */
const CHOICE = /^[\w-]{0,200}$/;

/** Paths of pages and responses that concern a single sandbox. */
const ABOUT_ONE = /^\/(?:_admin|debug)(?:\/|$)/;

/**
 * Returns the chat that the operator selected by query parameter or on the Chats page, or `undefined` for the
 * deployment's sandbox.
 */
export function chosenTenant(request: Request): TenantId | undefined {
  if (!ABOUT_ONE.test(new URL(request.url).pathname)) return undefined;
  const chosen =
    namedChat(request) ?? parse(request.headers.get("cookie") ?? "", TENANT_COOKIE)[TENANT_COOKIE];
  return chosen !== undefined && isTenantId(chosen) ? chosen : undefined;
}

function namedChat({ url }: Request): string | undefined {
  return new URL(url).searchParams.get(CHAT_PARAMETER) ?? undefined;
}

/**
 * Selects the chat that a URL names. For a page, stores the chat in a cookie, so that the page's links and buttons
 * affect this chat. Adds the chat to redirects. Refuses invalid chats.
 */
export function keepNamedChat(): MiddlewareHandler {
  return async function namedChatMiddleware(context, next) {
    const chat = namedChat(context.req.raw);
    if (chat === undefined) return next();
    if (chat !== "" && !isTenantId(chat)) return sendProblem("tenant_unknown");
    if (context.req.method === "GET" && context.req.header("sec-fetch-dest") === "document") {
      const page = new URL(context.req.url);
      page.searchParams.delete(CHAT_PARAMETER);
      // A link on another site must not select a chat for the operator.
      if (context.req.header("sec-fetch-site") === "cross-site")
        return context.redirect(ROUTES.tenantsPage.path, 303);
      choose(context, chat);
      return context.redirect(`${page.pathname}${page.search}`, 303);
    }
    await next();
    const to = context.res.headers.get("location") ?? "";
    if (!ABOUT_ONE.test(to)) return undefined;
    context.header("location", `${to}${to.includes("?") ? "&" : "?"}${CHAT_PARAMETER}=${chat}`);
    return undefined;
  };
}

/** Stores which sandbox the pages show: the chat's, or the deployment's if `chat` is empty. */
function choose(context: Context, chat: string): void {
  setCookie(context, TENANT_COOKIE, isTenantId(chat) ? chat : "", {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    secure: new URL(context.req.url).protocol === "https:",
  });
}

/** `GET /_admin/chats`: chats with separate sandboxes, problems first. Does not wake the container. */
export async function showTenants(
  context: PageContext,
  { tenants, directory, clock }: AdminOptions,
): Promise<Response> {
  const { after, ...query } = readQuery(context, z.extend(listingQuery(), { after: z.optional(z.string()) }));
  const all = (await tenants?.tenants({ limit: ROWS + 1, after })) ?? [];
  const renewal = await tenants?.renewal?.({ look: false });
  const shown = all.slice(0, ROWS);
  const names = await namesOf(directory, shown.map(keyOf));
  const more = all.length > ROWS ? shown.at(-1)?.id : undefined;
  const content =
    tenants === undefined ? (
      <p class="soft">
        One sandbox serves every chat: <code>steward:tenancy</code> is shared.
      </p>
    ) : (
      <>
        {choice("", "Show the deployment")} {renewal && update(renewal)}
        {shown.length === 0 ? (
          <p class="soft">No chats yet. A chat appears here once it is admitted.</p>
        ) : (
          chatsTable(shown, names, query, clock())
        )}
        <p class="soft">State and counts may be a minute old.</p>
        {more !== undefined && <LinkLine href={`${ROUTES.tenantsPage.path}?after=${more}`}>More</LinkLine>}
      </>
    );
  return adminPage(context, { title: "Chats" }, content);
}

/** `POST /_admin/chats`, field `chat`: selects the sandbox that the pages show. */
export async function chooseTenant(context: PageContext): Promise<Response> {
  const { chat } = await readFields(context.req.raw, { chat: CHOICE });
  choose(context, chat);
  return context.redirect(ROUTES.admin.path, 303);
}

function update({ begun, answering, failing }: Renewal): Markup {
  const [first] = failing;
  const progress = `${answering} of ${begun} updated chats answer with the new version.`;
  const stop = `The other chats keep their containers until ${first} answers.`;
  if (first !== undefined)
    return (
      <p>
        <strong>
          {progress} {stop}
        </strong>
      </p>
    );
  return answering < begun ? <p class="soft">{progress} The others follow.</p> : <></>;
}

function chatsTable(tenants: readonly Tenant[], names: Names, query: ListingQuery, now: number): Markup {
  const chat = (tenant: Tenant) => {
    const id = keyOf(tenant);
    return { id, entry: names.get(id), lead: platformOf(id) };
  };
  const usedAt = ({ firstSeenAt, report }: Tenant): number => Date.parse(report?.usedAt ?? firstSeenAt);
  // Show no counts for web chats, because the ledger does not store their messages.
  const count = (read: (counts: LedgerCounts) => number) => {
    const by = ({ id, report }: Tenant) => (id.startsWith("web-") || !report ? 0 : read(report.counts));
    return {
      kind: "number",
      by,
      cell: (tenant: Tenant) => (tenant.id.startsWith("web-") ? "" : by(tenant)),
    } as const;
  };
  return (
    <ListTable
      path={ROUTES.tenantsPage.path}
      query={query}
      now={now}
      rows={tenants}
      read={(tenant) => ({ text: `${keyOf(tenant)} ${nameOf(chat(tenant))}`, at: usedAt(tenant) })}
      label="Chats"
      columns={[
        personColumn("Chat", chat),
        { head: "State", by: (tenant) => stateOf(tenant)[1], cell: stateBadge },
        ageColumn("Last used", now, usedAt),
        { head: "Answered", ...count(({ answered }) => answered) },
        { head: "Open", ...count(({ waiting, delivering }) => waiting + delivering) },
        { head: "Choice", kind: "action", cell: ({ id }) => choice(id, "Show") },
      ]}
    />
  );
}

function keyOf({ id }: Tenant): string {
  const { platform, chat } = chatOfTenant(id);
  return `${platform}:${chat}`;
}

function stateOf({ report }: Tenant): [tone: string, words: string] {
  if (report?.problem !== undefined) return ["bad", "No answer"];
  return report?.running === true ? ["ok", "Awake"] : ["wait", "Asleep"];
}

function stateBadge(tenant: Tenant): Markup {
  const [tone, words] = stateOf(tenant);
  return (
    <span class="outcome">
      <span class={`badge ${tone}`}>{words}</span>
      {tenant.report?.problem && <span>{tenant.report.problem.detail}</span>}
    </span>
  );
}

function choice(chat: string, label: string): Markup {
  return (
    <ActionButton action={ROUTES.tenantChoose.path} value={["chat", chat]}>
      {label}
    </ActionButton>
  );
}
