import type { Child } from "hono/jsx";
import type * as z from "zod/mini";
import { platformSchema } from "../../contract/delivery.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { schedules } from "../../operations/schedules.ts";
import type { NameEntry } from "../ports.ts";
import type { Markup } from "../ui/document.tsx";
import { SelectField, TextArea, Submit } from "../ui/form.tsx";

export type ScheduleRow = z.infer<ReturnType<typeof schedules.list.output>>["schedules"][number];

export type RunRow = z.infer<ReturnType<typeof schedules.history.output>>["runs"][number];

/** Label and example value of each command-line option that specifies a schedule's time. */
const KINDS = {
  cron: ["Cron expression", "0 9 * * 1-5"],
  every: ["Every", "1h30m"],
  at: ["Once at", "2027-01-31 09:00"],
} as const;
const CONTENTS = { text: "Send this text", prompt: "Ask the agent, and send its answer" } as const;

/** Accepts any value, so that the form can show what is wrong with it. */
const ANY = /^[\s\S]{0,20000}$/;
const LONGEST = { chat: 500, when: 120, timezone: 64, message: 20_000 } as const;
export const SCHEDULE_FORM = {
  chat: ANY,
  kind: new RegExp(`^(?:${Object.keys(KINDS).join("|")})$`),
  when: ANY,
  timezone: ANY,
  content: new RegExp(`^(?:${Object.keys(CONTENTS).join("|")})$`),
  message: ANY,
};
export type Values = Record<keyof typeof SCHEDULE_FORM, string>;

export const EMPTY: Values = {
  chat: "",
  kind: "cron",
  when: KINDS.cron[1],
  timezone: "",
  content: "text",
  message: "",
};

export type Marks = Partial<Record<keyof Values, string>>;

/** Error for a form with wrong fields. Each wrong field shows an explanation. */
export const WRONG = reason("schedule_invalid", "Nothing was saved. Correct the marked fields.");
const NEEDED = { chat: "Enter a chat.", when: "Enter a time.", message: "Enter a message." } as const;
const UNKNOWN_CHAT = "Choose a chat from the list, or type its platform and id: slack:C0123456789.";

/** Returns the field errors that can be found without the container. */
export function marksOf(values: Values): Marks {
  const marks: Marks = {};
  for (const [name, most] of Object.entries(LONGEST) as [keyof typeof LONGEST, number][]) {
    const value = values[name];
    if (name !== "timezone" && value.trim() === "") marks[name] = NEEDED[name];
    else if (value.length > most) marks[name] = `At most ${most} characters.`;
    else if (name !== "message" && /\p{Cc}/u.test(value))
      marks[name] = "No line breaks or control characters.";
    else if (value.includes("\0")) marks[name] = "No control characters.";
  }
  if (marks.chat === undefined && chatOf(values) === undefined) marks.chat = UNKNOWN_CHAT;
  return marks;
}

/** Returns the address of the chat, given `<name> (<address>)` or an address. */
function chatOf({ chat }: Values): string | undefined {
  const address = /\(([^()]+)\)\s*$/.exec(chat)?.[1] ?? chat.trim();
  return new RegExp(`^(?:${platformSchema.options.join("|")}):\\S{1,128}$`).test(address)
    ? address
    : undefined;
}

/** Returns the options of `schedules preview`. */
export function timesOf({ kind, when, timezone }: Values): Record<string, string> {
  const hasOffset = /(?:Z|[+-]\d\d:\d\d)$/i.test(when.trim());
  const isZoned = kind === "cron" || (kind === "at" && !hasOffset);
  return { [kind]: when.trim(), ...(isZoned && timezone !== "" && { timezone }) };
}

/** Returns the options of `schedules add` for values without errors. */
export function optionsOf(values: Values): { to: string } & Record<string, string> {
  return { to: chatOf(values) ?? "", ...timesOf(values), [values.content]: values.message };
}

/** Converts a schedule to form values. `chat` is the text to show for its chat. */
export function valuesOf(
  { at, every, cron, timezone = "UTC", text, prompt }: ScheduleRow,
  chat: string,
): Values {
  return {
    chat,
    kind: at !== undefined ? "at" : every !== undefined ? "every" : "cron",
    when: at ?? every ?? cron ?? "",
    timezone,
    content: text === undefined ? "prompt" : "text",
    message: text ?? prompt ?? "",
  };
}

export function chatText(address: string, entry: Pick<NameEntry, "name"> | undefined): string {
  return entry?.name === undefined ? address : `${entry.name} (${address})`;
}

const FIELDS: Readonly<Record<string, keyof Values>> = {
  to: "chat",
  at: "when",
  every: "when",
  cron: "when",
  timezone: "timezone",
  text: "message",
  prompt: "message",
};

/**
 * Maps the command line's error messages to form fields. A message consists of `<name>: <sentence>` parts, separated by
 * semicolons.
 */
export function toldMarks({ code, detail }: Reason): Marks {
  const marks: Marks = {};
  if (code !== "schedule_invalid") return marks;
  for (const told of detail.split("; ")) {
    const colon = told.indexOf(": ");
    const field = colon === -1 ? undefined : FIELDS[told.slice(0, colon)];
    if (field !== undefined) marks[field] ??= sentence(told.slice(colon + 2));
  }
  return marks;
}

function sentence(words: string): string {
  const told = words.startsWith("must") || words.startsWith("is ") ? `It ${words}` : words;
  return `${told.slice(0, 1).toUpperCase()}${told.slice(1)}${told.endsWith(".") ? "" : "."}`;
}

interface ScheduleFormProps {
  values: Values;
  marks: Marks;
  chats: readonly string[];
  /** The edited schedule; absent for a new one. */
  id?: string | undefined;
}

export function ScheduleForm({ values, marks, chats, id }: ScheduleFormProps): Markup {
  const query = id === undefined ? "" : `?${new URLSearchParams({ id })}`;
  const kinds = Object.entries(KINDS).map(([name, [label]]) => [name, label] as const);
  /** Returns a field's attributes. `hint` is the id of an element that explains the field. */
  const field = (name: keyof typeof LONGEST, hint?: string) => {
    const ids = [hint, marks[name] !== undefined && `${name}-problem`].filter(Boolean).join(" ");
    return {
      name,
      maxlength: LONGEST[name],
      ...(marks[name] !== undefined && { "aria-invalid": "true" as const }),
      ...(ids !== "" && { "aria-describedby": ids }),
    };
  };
  const labelled = (name: keyof typeof LONGEST, label: string, control: Child): Markup => (
    <div>
      <label>
        {label} {control}
      </label>
      {marks[name] !== undefined && (
        <p id={`${name}-problem`} class="mark">
          {marks[name]}
        </p>
      )}
    </div>
  );
  const save = id === undefined ? ROUTES.schedulesAdd.path : `${ROUTES.schedulesEdit.path}${query}`;
  return (
    <form method="post" action={save} class="schedule">
      {labelled(
        "chat",
        "Chat",
        <input
          required
          list="chats"
          autocomplete="off"
          placeholder="Type a name, or slack:C0123456789"
          value={values.chat}
          {...field("chat")}
        />,
      )}
      <datalist id="chats">
        {chats.map((chat) => (
          <option value={chat} />
        ))}
      </datalist>
      <div class="fields">
        <SelectField name="kind" label="When" options={kinds} selected={values.kind} />
        {labelled("when", "Time", <input required value={values.when} {...field("when", "examples")} />)}
        {labelled(
          "timezone",
          "Time zone",
          <input placeholder="UTC" data-zone="" value={values.timezone} {...field("timezone")} />,
        )}
      </div>
      <p id="examples" class="soft">
        {Object.values(KINDS).map(([label, example]) => (
          <>
            {label}: <code>{example}</code>.{" "}
          </>
        ))}
      </p>
      <SelectField name="content" label="What" options={Object.entries(CONTENTS)} selected={values.content} />
      {labelled(
        "message",
        "Message",
        <TextArea rows={4} required text={values.message} {...field("message")} />,
      )}
      <div class="actions">
        <Submit>{id === undefined ? "Add" : "Save"}</Submit>
        <button type="submit" formaction={`${ROUTES.schedulesPreview.path}${query}`}>
          Preview
        </button>
        {id !== undefined && (
          <a class="button" href={ROUTES.schedulesPage.path}>
            Cancel
          </a>
        )}
      </div>
    </form>
  );
}
