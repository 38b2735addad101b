import { platformSchema } from "../../contract/delivery.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Markup } from "../ui/document.tsx";
import { SelectField, TextArea } from "../ui/form.tsx";

/** Ways to say when, with the option of the command line and an example. */
const KINDS = {
  cron: ["Cron expression", "0 9 * * 1-5"],
  every: ["Every", "1h30m"],
  at: ["Once at", "2027-01-31T09:00:00+01:00"],
} as const;
/** A message as it is, or the agent's answer to it. */
const CONTENTS = { text: "Send this text", prompt: "Ask the agent, and send its answer" } as const;

/** A value may be wrong in any way: what is wrong with it is said beside its field. */
const ANY = /^[\s\S]{0,20000}$/;
const LONGEST = { chat: 128, when: 120, timezone: 64, message: 20_000 } as const;
/** Fields of the form, with what a request must have of each. */
export const SCHEDULE_FORM = {
  platform: new RegExp(`^(?:${platformSchema.options.join("|")})$`),
  chat: ANY,
  kind: new RegExp(`^(?:${Object.keys(KINDS).join("|")})$`),
  when: ANY,
  timezone: ANY,
  content: new RegExp(`^(?:${Object.keys(CONTENTS).join("|")})$`),
  message: ANY,
};
/** Values of the form, as they were sent. */
export type Values = Record<keyof typeof SCHEDULE_FORM, string>;

/** Values of a form that nobody has filled in. */
export const EMPTY: Values = {
  platform: "slack",
  chat: "",
  kind: "cron",
  when: "",
  timezone: "",
  content: "text",
  message: "",
};

/** Sentences on what is wrong, by the field that they concern. */
export type Marks = Partial<Record<keyof Values, string>>;

/** Reason that a form was refused whose fields tell why. */
export const WRONG = reason("schedule_invalid", "Nothing was added: see the marked fields.");
const NEEDED = { chat: "Name the chat.", when: "Say when.", message: "Write a message." } as const;

/** Returns what is wrong with values that the container need not be asked about. */
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
  return marks;
}

/** Fields of the form, by the names that the command line has for them. */
const FIELDS: Readonly<Record<string, keyof Values>> = {
  "to.platform": "platform",
  "to.chat": "chat",
  at: "when",
  every: "when",
  cron: "when",
  timezone: "timezone",
  text: "message",
  prompt: "message",
};

/** Returns what the command line says of each field: `<name>: <sentence>`, with semicolons between them. */
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

/** Returns the attributes of a field. `described` is the id of a text that explains it. */
function marked(name: keyof Values, marks: Marks, described?: string) {
  const isMarked = marks[name] !== undefined;
  const ids = [described, isMarked && `${name}-problem`].filter(Boolean).join(" ");
  return {
    ...(isMarked && { "aria-invalid": "true" as const }),
    ...(ids !== "" && { "aria-describedby": ids }),
  };
}

function markPart(name: keyof Values, marks: Marks): Markup | "" {
  return marks[name] === undefined ? (
    ""
  ) : (
    <p id={`${name}-problem`} class="mark">
      {marks[name]}
    </p>
  );
}

/** Renders the form with its values, and beside a marked field what is wrong with it. */
export function addForm(values: Values, marks: Marks): Markup {
  const platforms = platformSchema.options.map((name) => [name, name] as const);
  const kinds = Object.entries(KINDS).map(([name, [label]]) => [name, label] as const);
  const contents = Object.entries(CONTENTS);
  const examples = Object.values(KINDS)
    .map(([label, example]) => `${label.toLowerCase()}: ${example}`)
    .join(", ");
  return (
    <form method="post" action={ROUTES.schedulesAdd.path}>
      <SelectField name="platform" label="Platform" options={platforms} selected={values.platform} />
      <label>
        Chat id <input name="chat" required maxlength={128} value={values.chat} {...marked("chat", marks)} />
      </label>
      {markPart("chat", marks)}{" "}
      <SelectField name="kind" label="When" options={kinds} selected={values.kind} />
      <label>
        Time{" "}
        <input
          name="when"
          required
          maxlength={120}
          value={values.when}
          {...marked("when", marks, "examples")}
        />
      </label>
      {markPart("when", marks)}
      <p id="examples" class="soft">
        For example {examples}.
      </p>
      <label>
        Time zone of a cron expression{" "}
        <input
          name="timezone"
          maxlength={64}
          placeholder="UTC"
          value={values.timezone}
          {...marked("timezone", marks)}
        />
      </label>
      {markPart("timezone", marks)}{" "}
      <SelectField name="content" label="What" options={contents} selected={values.content} />
      <label>
        Message{" "}
        <TextArea
          name="message"
          rows={4}
          required
          maxlength={20000}
          text={values.message}
          {...marked("message", marks)}
        />
      </label>
      {markPart("message", marks)}
      <button type="submit" class="primary">
        Add
      </button>
    </form>
  );
}
