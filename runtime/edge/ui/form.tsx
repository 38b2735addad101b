import { raw } from "hono/html";
import type { ToldProblem } from "../../contract/control.ts";
import type { WrongValuesError } from "../form.ts";
import type { Markup } from "./document.tsx";

/** A field that a form sends. */
type Field = readonly [name: string, value: string | undefined];

interface ActionButtonProps {
  action: string;
  method?: "get" | "post";
  /** Hidden fields. */
  fields?: readonly Field[];
  /** The field that the button itself sends. */
  value?: Field;
  /** Classes of the button. */
  tone?: string | undefined;
  /** Name for screen readers, which says what the button is about. */
  label?: string;
  /** Precedes the button. */
  hint?: Markup;
  children: string;
}

/** A form of one button. */
export function ActionButton(props: ActionButtonProps): Markup {
  const { action, method = "post", fields = [], value, tone, label, hint, children } = props;
  const own = value === undefined ? ({ type: "submit" } as const) : { name: value[0], value: value[1] };
  return (
    <form method={method} action={action}>
      {hint}
      {fields.map(([name, text]) => (
        <input type="hidden" name={name} value={text} />
      ))}
      <button {...own} class={tone} aria-label={label}>
        {children}
      </button>
    </form>
  );
}

/** The button that sends a form with other fields. */
export function Submit({ tone = "primary", children }: { tone?: string; children: string }): Markup {
  return (
    <button type="submit" class={tone}>
      {children}
    </button>
  );
}

interface SelectFieldProps {
  name: string;
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  /** Value that is chosen at first. */
  selected: string | undefined;
}

/** A labelled choice of one value. */
export function SelectField({ name, label, options, selected }: SelectFieldProps): Markup {
  return (
    <label>
      {label}
      <select name={name}>
        {options.map(([value, text]) => (
          <option value={value} selected={value === selected}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Properties of {@link TextArea}: attributes of the element, and its text. */
interface TextAreaProps extends Record<string, string | number | boolean | undefined> {
  text: string;
  name: string;
  rows: number;
}

/**
 * A text area with all of its text. HTML drops a line feed right after the tag, so one is added:
 * https://html.spec.whatwg.org/multipage/syntax.html#element-restrictions
 */
export function TextArea({ text, ...attributes }: TextAreaProps): Markup {
  return (
    <textarea {...attributes}>
      {raw("\n")}
      {text}
    </textarea>
  );
}

interface EditorProps {
  label: string;
  text: string;
  /** Ids of the texts that describe the field. */
  describedBy?: string | undefined;
  isWrong?: boolean;
  /** Has the config's keys completed and explained. */
  isConfig?: boolean;
  /** Path to which the text is sent for its problems, as a form. */
  check?: string;
  /** Problems that are known already. */
  problems?: readonly ToldProblem[];
}

/** The field `text` of a form. The script `editor.js` puts a code editor in its place. */
export function Editor(props: EditorProps): Markup {
  const { label, text, describedBy, isWrong, isConfig, check, problems = [] } = props;
  return (
    <>
      <label for="text">{label}</label>
      <TextArea
        id="text"
        name="text"
        rows={24}
        aria-describedby={describedBy}
        aria-invalid={isWrong ? "true" : undefined}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={isConfig ? "false" : "true"}
        data-config={isConfig ? "true" : undefined}
        data-check={check}
        data-problems={JSON.stringify(problems)}
        text={text}
      />
    </>
  );
}

/** A form that was refused, with what was sent: the wrong values to be corrected, the others as they are. */
export function SentForm(props: {
  method: "get" | "post";
  action: string;
  values: WrongValuesError;
}): Markup {
  const { sent, wrong } = props.values;
  return (
    <form method={props.method} action={props.action}>
      {sent.map(([name, value]) =>
        wrong.has(name) ? (
          <label>
            {name} <TextArea name={name} rows={3} text={value} {...invalid(true, "why")} />
          </label>
        ) : (
          <input type="hidden" name={name} value={value} />
        ),
      )}
      {wrong.size > 0 && (
        <p id="why" class="mark">
          The marked value is too long, or not one that this field takes.
        </p>
      )}
      <button type="submit">Send again</button>
    </form>
  );
}

interface ConfirmationProps {
  /** Text that has to be typed. */
  word: string;
  /** Another text that was typed. */
  typed: string | undefined;
  /** Says that the change was not made, such as "Nothing was restored". */
  notDone: string;
}

/** The field `typed` of a form that destroys something. */
export function Confirmation({ word, typed, notDone }: ConfirmationProps): Markup {
  return (
    <>
      <label for="typed">
        To confirm, type <strong>{word}</strong>
      </label>
      <input
        id="typed"
        name="typed"
        required
        autocomplete="off"
        spellcheck={false}
        value={typed}
        {...invalid(typed !== undefined, "typed-why")}
      />
      {typed !== undefined && (
        <p id="typed-why" class="mark" role="alert">
          {notDone}: type {word} to confirm.
        </p>
      )}
    </>
  );
}

/** Texts that {@link Confirmation} may send: a wrong one is shown again. */
export const TYPED = /^[\s\S]{0,20000}$/;

/** Returns true if the text that was typed confirms, whatever its case. */
export function confirms(typed: string, word: string): boolean {
  return typed.trim().toLowerCase() === word.toLowerCase();
}

/** Properties that mark a field whose value is wrong; none if it is right. `id` is that of the text that says why. */
export function invalid(isWrong: boolean, id: string) {
  return isWrong ? ({ "aria-invalid": "true", "aria-describedby": id } as const) : {};
}
