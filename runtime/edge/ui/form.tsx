import { raw } from "hono/html";
import type { ToldProblem } from "../../contract/control.ts";
import type { WrongValuesError } from "../form.ts";
import type { Markup } from "./document.tsx";

type Field = readonly [name: string, value: string | undefined];

interface ActionButtonProps {
  action: string;
  method?: "get" | "post";
  fields?: readonly Field[];
  value?: Field;
  tone?: string | undefined;
  /** Accessible name: what the button affects. */
  label?: string;
  hint?: Markup;
  children: string;
}

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
  selected: string | undefined;
}

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

interface TextAreaProps extends Record<string, string | number | boolean | undefined> {
  text: string;
  name: string;
  rows: number;
}

/**
 * Renders a text area. Adds a line feed, because HTML drops one after the opening tag:
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
  describedBy?: string | undefined;
  isWrong?: boolean;
  /** Enables completion and help for config keys. */
  isConfig?: boolean;
  /** Path to which a script sends the text for checking. */
  check?: string;
  problems?: readonly ToldProblem[];
}

/** The text area `text` of a form. The script `editor.js` replaces it with a code editor. */
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

/** Shows a refused form with the sent values, so that wrong values can be corrected. */
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
          The marked value is too long, or this field does not accept it.
        </p>
      )}
      <button type="submit">Send again</button>
    </form>
  );
}

interface ConfirmationProps {
  word: string;
  typed: string | undefined;
  /** Sentence such as "Nothing was restored". */
  notDone: string;
}

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

/** Accepts any input in {@link Confirmation}'s field, so that the page can show wrong input again. */
export const TYPED = /^[\s\S]{0,20000}$/;

export function confirms(typed: string, word: string): boolean {
  return typed.trim().toLowerCase() === word.toLowerCase();
}

/** Returns the attributes of an invalid field. `id` belongs to the element that explains the error. */
export function invalid(isWrong: boolean, id: string) {
  return isWrong ? ({ "aria-invalid": "true", "aria-describedby": id } as const) : {};
}
