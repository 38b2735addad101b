import * as z from "zod/mini";
import { type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { readFields, readQuery } from "../form.ts";
import { sessions } from "../../operations/sessions.ts";
import { namesOf } from "../ledger-routes.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Moment } from "../ui/time.tsx";
import { AlertBox } from "../ui/state.tsx";
import { Card, LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton, Confirmation, confirms, TYPED, Submit } from "../ui/form.tsx";
import { Person } from "../ui/person.tsx";
import { Facts } from "../ui/table.tsx";
import type { Sandbox } from "../ports.ts";
import { LIMIT_MS } from "./answers.ts";
import { placeOf } from "./sessions.tsx";
import { finishChange, recordChange } from "./change.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const EXPORT_LIMIT_MS = 30_000;
const MAX_PARTS = 64;
/** Ids never begin with a dash. */
const CONVERSATION = /^(?!-)[^\p{Cc}]{1,300}$/u;

// Built lazily to keep startup fast.
const pageQuery = () => z.strictObject({ conversation: z.string().check(z.regex(CONVERSATION)) });
type Session = z.infer<ReturnType<typeof sessions.show.output>>;
type Message = z.infer<ReturnType<typeof sessions.messages.output>>["messages"][number];

/** `GET /_admin/sessions/detail?conversation=`: size, age and model of a conversation, without its messages. */
export async function showSession(context: PageContext, options: AdminOptions): Promise<Response> {
  const { conversation } = readQuery(context, pageQuery());
  return page(context, options, { conversation });
}

/**
 * `POST /_admin/sessions/messages`, field `conversation`: the conversation's page with its last messages. The activity
 * log records the access.
 */
export async function showMessages(context: PageContext, options: AdminOptions): Promise<Response> {
  const { sandbox } = options;
  const { conversation } = await readFields(context.req.raw, { conversation: CONVERSATION });
  await recordChange(context, options, { action: "read", detail: conversation });
  const asked = await attempt(LIMIT_MS, operate(sandbox, sessions.messages, { conversation }));
  return page(context, options, { conversation, messages: asked.value?.messages, problem: asked.problem });
}

/**
 * `POST /_admin/sessions/export`, field `conversation`: all messages as JSON lines. The activity log records the
 * access.
 */
export async function exportSession(context: PageContext, options: AdminOptions): Promise<Response> {
  const { sandbox } = options;
  const { conversation } = await readFields(context.req.raw, { conversation: CONVERSATION });
  await recordChange(context, options, { action: "read", detail: conversation });
  const { value, problem } = await attempt(EXPORT_LIMIT_MS, readAll(sandbox, conversation));
  if (value === undefined) return page(context, options, { conversation, problem });
  context.header("content-disposition", 'attachment; filename="conversation.jsonl"');
  return context.body(value, 200, { "content-type": "application/jsonl" });
}

/** @throws StewardError `command_timed_out` if the conversation is too long to export. */
async function readAll(sandbox: Sandbox, conversation: string): Promise<string> {
  const lines: string[] = [];
  let next: number | undefined;
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const after = next === undefined ? {} : { after: String(next) };
    const part = await operate(sandbox, sessions.export, { conversation, ...after });
    for (const message of part.messages) lines.push(`${JSON.stringify(message)}\n`);
    ({ next } = part);
    if (next === undefined) return lines.join("");
  }
  throw new StewardError("command_timed_out", "The conversation is too long to export here.");
}

/**
 * `POST /_admin/sessions/reset`, field `conversation`: starts a conversation over, like /new in the chat. Its messages
 * remain stored.
 */
export async function resetSession(context: PageContext, options: AdminOptions): Promise<Response> {
  const { conversation } = await readFields(context.req.raw, { conversation: CONVERSATION });
  const made = operate(options.sandbox, sessions.reset, { conversation });
  const change = { action: "session", detail: conversation, page: ROUTES.sessionsPage } as const;
  return finishChange(context, options, made, { ...change, done: "startedOver" });
}

/**
 * `POST /_admin/sessions/delete`, fields `conversation` and `typed`: deletes a conversation. `typed` must be the
 * environment's name.
 */
export async function deleteSession(context: PageContext, options: AdminOptions): Promise<Response> {
  const form = { conversation: CONVERSATION, typed: TYPED };
  const { conversation, typed } = await readFields(context.req.raw, form);
  const { environment: word = "delete" } = await context.get("visitor")();
  if (!confirms(typed, word)) return page(context, options, { conversation, typed });
  const made = operate(options.sandbox, sessions.delete, { conversation });
  const change = { action: "delete", detail: conversation, page: ROUTES.sessionsPage } as const;
  return finishChange(context, options, made, { ...change, done: "forgotten" });
}

interface Shown {
  conversation: string;
  messages?: readonly Message[] | undefined;
  typed?: string;
  problem?: Reason | undefined;
}

async function page(
  context: PageContext,
  { sandbox, directory }: Pick<AdminOptions, "sandbox" | "directory">,
  shown: Shown,
): Promise<Response> {
  const { conversation } = shown;
  const [asked, names] = await Promise.all([
    attempt(LIMIT_MS, operate(sandbox, sessions.show, { conversation })),
    namesOf(directory, [placeOf(conversation)]),
  ]);
  const problem = shown.problem ?? asked.problem;
  const { environment: word = "delete" } = await context.get("visitor")();
  const content = (
    <>
      <p>
        <Person id={conversation} entry={names.get(placeOf(conversation))} />
      </p>
      <AlertBox reason={problem} /> {asked.value && sessionPart(shown, asked.value, word)}
      <LinkLine href={ROUTES.sessionsPage.path}>Back to the conversations</LinkLine>
    </>
  );
  const status = shown.typed === undefined ? statusOf(problem) : 400;
  return adminPage(context, { title: "Conversation" }, content, status);
}

function sessionPart({ conversation, messages, typed }: Shown, session: Session, word: string): Markup {
  // Event keys also contain the team and the thread, so search only for the chat's id, which ends the conversation's
  // id.
  const chat = conversation.split(":").at(-1) ?? "";
  const { messages: kept, inUse, firstAt, lastAt, model, summarised } = session;
  const value = ["conversation", conversation] as const;
  return (
    <>
      <Card>
        <Facts
          facts={[
            ["Messages stored", kept],
            ["In use", `${inUse}, since the last reset`],
            ["First message", firstAt === undefined ? "none" : <Moment at={firstAt} />],
            ["Last activity", lastAt === undefined ? "none" : <Moment at={lastAt} />],
            ["Model", model ?? "the config's"],
            ["Older messages", summarised ? "sent to the model as a summary" : "sent to the model in full"],
          ]}
        />
        <LinkLine href={`${ROUTES.ledgerPage.path}?${new URLSearchParams({ q: chat })}`}>
          Events of this chat
        </LinkLine>
      </Card>
      <h2>Messages</h2>
      {messages !== undefined ? (
        messagesPart(messages)
      ) : (
        <ActionButton
          action={ROUTES.sessionMessages.path}
          value={value}
          hint={
            <p class="soft">These are messages from people. Activity records your name when you read them.</p>
          }
        >
          Show the last messages
        </ActionButton>
      )}
      <ActionButton
        action={ROUTES.sessionsExport.path}
        value={value}
        hint={<p>A file with all messages in full, as JSON lines. This is also recorded.</p>}
      >
        Export
      </ActionButton>
      <h2>Change</h2>
      <ActionButton
        action={ROUTES.sessionsReset.path}
        value={value}
        hint={
          <p>The bot no longer uses the earlier messages, as with /new in the chat. They remain stored.</p>
        }
      >
        Start over
      </ActionButton>
      <form method="post" action={ROUTES.sessionsDelete.path}>
        <p>All messages are removed. Existing backups still contain them.</p>
        <input type="hidden" name="conversation" value={conversation} />
        <Confirmation word={word} typed={typed} notDone="Nothing was deleted" />
        <Submit tone="danger">Delete the conversation</Submit>
      </form>
    </>
  );
}

function messagesPart(messages: readonly Message[]): Markup {
  if (messages.length === 0) return <p class="soft">No messages.</p>;
  return (
    <>
      <p class="soft">The last {messages.length}, oldest first. This was recorded in Activity.</p>
      <ol class="talk" aria-label="Messages">
        {messages.map(({ at, from, text }) => (
          <li class="card">
            <p>
              <bdi>
                <strong>{from}</strong>
              </bdi>{" "}
              <span class="soft">
                <Moment at={at} />
              </span>
            </p>
            <p class="lines">{text}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
