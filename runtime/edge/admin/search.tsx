import * as z from "zod/mini";
import { ROUTES } from "../../contract/routes.ts";
import type { schedules } from "../../operations/schedules.ts";
import type { sessions } from "../../operations/sessions.ts";
import { parseJson } from "../../shared/json.ts";
import { wantsHtml } from "../access.ts";
import { readQuery } from "../form.ts";
import { adminPage, PAGES } from "../ui/console.tsx";
import { Card } from "../ui/document.tsx";
import type { AdminOptions, PageContext } from "./options.ts";

/** Actions that the search can find, and the page on which each starts. */
const ACTIONS = Object.entries({
  "Add a schedule": `${ROUTES.schedulesPage.path}#add`,
  "Approve or revoke people and browsers": ROUTES.devicesPage.path,
  "Back up now": ROUTES.backupsPage.path,
  "Edit the configuration": ROUTES.configEdit.path,
  "Restart the gateway": ROUTES.restartPage.path,
  "Restore a backup": ROUTES.backupsPage.path,
});
const MOST = 20;
const MAX_OF_MESSAGE = 60;
const MAX_CONVERSATIONS = 1_000;

const searchQuery = () => z.object({ q: z.optional(z.string().check(z.maxLength(100))) });

type Found = [kind: string, title: string, href: string];

type Known = Parameters<typeof sessions.list.text>[0] & Parameters<typeof schedules.list.text>[0];

/**
 * `GET /_admin/search?q=`: finds pages, actions, people, places, conversations and schedules by name. Clients that are
 * not browsers get JSON. Does not contact the container.
 */
export async function showSearch(context: PageContext, options: AdminOptions): Promise<Response> {
  const { q = "" } = readQuery(context, searchQuery());
  const found = await search(options, q);
  if (!wantsHtml(context.req.raw)) return context.json(found);
  const content = (
    <>
      <form class="row" action={ROUTES.searchPage.path}>
        <input type="search" name="q" value={q} aria-label="Search" maxlength={100} autofocus />
        <button>Search</button>
      </form>
      {found.length === 0 && <p class="empty">No results.</p>}
      {found.length > 0 && (
        <Card>
          <ul class="plain">
            {found.map(([kind, title, href]) => (
              <li>
                <a href={href}>
                  <bdi>{title}</bdi>
                </a>
                <span class="soft">{kind}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
  return adminPage(context, { title: "Search" }, content);
}

async function search({ directory, answers, tenants }: AdminOptions, q: string): Promise<Found[]> {
  const words = q.toLowerCase().split(/\s+/);
  const matches = ([, title]: Found) => words.every((word) => title.toLowerCase().includes(word));
  const shown = PAGES.filter(({ path }) => path !== ROUTES.tenantsPage.path || tenants !== undefined);
  const pages = shown.map(({ title, path }): Found => ["page", title, path]);
  const actions = ACTIONS.map(([title, path]): Found => ["action", title, path]);
  const own = [...pages, ...actions].filter(matches);
  if (q.trim() === "") return own;
  const recall = async (question: string): Promise<Partial<Known>> =>
    parseJson((await answers.lastAnswer(question))?.text ?? "") ?? {};
  const [{ entries }, { sessions = [] }, { schedules = [] }] = await Promise.all([
    directory.entries({ q: q.trim(), limit: MOST }),
    recall("sessions"),
    recall("schedules"),
  ]);
  const named = entries.map(({ key, kind, id, name = id }): Found => [
    kind,
    name,
    `${ROUTES.ledgerPage.path}?${new URLSearchParams({ [kind === "person" ? "sender" : "place"]: key })}`,
  ]);
  const keys = sessions.slice(0, MAX_CONVERSATIONS).map(({ conversation }) => conversation);
  const names = await directory.names(keys);
  const talks = keys.map((conversation): Found => [
    "conversation",
    names.get(conversation)?.name ?? conversation,
    `${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation })}`,
  ]);
  const plans = schedules.map(({ text, prompt = "" }): Found => {
    const message = (text ?? prompt).slice(0, MAX_OF_MESSAGE);
    return ["schedule", message, `${ROUTES.schedulesPage.path}?${new URLSearchParams({ q: message })}`];
  });
  return [...own, ...named, ...[...talks, ...plans].filter(matches)].slice(0, MOST);
}
