import type { Context } from "hono";
import { structuredPatch } from "diff";
import type { ConfigRefusal } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { adminPage } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import type { Edited } from "./config-file.ts";

const CONTEXT_LINES = 3;
/** Above this, finding the shortest diff takes too long: everything is shown as replaced. */
const MOST_CHANGES = 1_000;

/** A change of the config, before it is made. */
export interface ConfigReview {
  title: string;
  /** Sentence about this change. */
  about: string;
  /** The file as it is. */
  before: string;
  edited: Edited;
  problems: ConfigRefusal["problems"];
}

/** Answers with what a change would do, and the buttons; one that leaves the file wrong cannot be saved. */
export function configReviewPage(
  context: Context<AccessVariables>,
  { title, about, before, edited, problems }: ConfigReview,
  status: 200 | 422 = 200,
): Promise<Response> {
  const content = (
    <>
      <p>{about}</p>
      {problems.length === 0 ? "" : problemsAlert(problems)}
      <h2>What changes</h2>
      {diffPart(before, edited.text)}
      <div class="actions">
        {problems.length === 0 ? textForm(ROUTES.configSave.path, edited, "Save") : ""}
        {textForm(ROUTES.configEditOn.path, edited, "Back to editing")}
      </div>
      {backLink()}
    </>
  );
  return adminPage(context, { title }, content, status);
}

/** Renders what a fresh file changes, and the button. */
export function configFreshPart(before: string, after: string, expected: string): Markup {
  return (
    <>
      <p>
        The file is set aside beside the new one, the gateway is restarted and writes its config from its
        environment. Everything that was configured beyond that no longer holds.
      </p>
      <h2>What changes</h2>
      {diffPart(before, after)}
      <form method="post" action={ROUTES.configFresh.path}>
        <input type="hidden" name="expected" value={expected} />{" "}
        <button type="submit" class="danger">
          Reset to defaults
        </button>
      </form>
      {backLink()}
    </>
  );
}

/** Answers that a repair finds nothing to do, and why in a sentence. */
export function nothingToMendPage(context: Context<AccessVariables>, why: string): Promise<Response> {
  const content = (
    <>
      <p>{why}</p>
      <p>
        <a href={ROUTES.configEdit.path}>Correct the file by hand</a>
      </p>
      {backLink()}
    </>
  );
  return adminPage(context, { title: "Repair" }, content);
}

/** Every problem with its place. */
export function problemList(problems: ConfigRefusal["problems"]): Markup {
  return (
    <dl class="stack">
      {problems.map(({ path, message, help }) => (
        <>
          <dt>
            <code>{path === "" ? "(root)" : path}</code>
          </dt>
          <dd>
            {message}
            {help === undefined ? (
              ""
            ) : (
              <>
                <br />
                <span class="soft">{help}</span>
              </>
            )}
          </dd>
        </>
      ))}
    </dl>
  );
}

function problemsAlert(problems: ConfigRefusal["problems"]): Markup {
  return (
    <div role="alert">
      <aside>
        <h2>
          Not valid: {problems.length} problem{problems.length === 1 ? "" : "s"}
        </h2>
        {problemList(problems)}
      </aside>
    </div>
  );
}

function textForm(action: string, { text, expected }: Edited, label: string): Markup {
  return (
    <form method="post" action={action}>
      <input type="hidden" name="text" value={text} />{" "}
      <input type="hidden" name="expected" value={expected} />{" "}
      <button type="submit" class="primary">
        {label}
      </button>
    </form>
  );
}

/** The link from a page of a change to that of the configuration. */
export function backLink(): Markup {
  return (
    <p>
      <a href={ROUTES.configPage.path}>Back to the configuration</a>
    </p>
  );
}

/** Lines that belong together. */
interface Hunk {
  /** The first line's number in the new text. */
  at: number;
  /** Each with its sign before it: a blank, `+` or `-`. */
  lines: string[];
}

/** Renders the diff of two texts by line, marked by sign, word and colour. */
function diffPart(before: string, after: string): Markup {
  const hunks = compare(before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  if (hunks.length === 0) return <p>Nothing changes.</p>;
  return (
    <>
      <p>
        {plural(count("+"))} added, {plural(count("-"))} removed.
      </p>
      {hunks.map((hunk) => (
        <pre class="diff" role="region" tabindex={0} aria-label={`Change at line ${hunk.at}`}>
          {hunk.lines.map(diffLine)}
        </pre>
      ))}
    </>
  );
}

function diffLine(line: string): Markup {
  const [sign, text] = [line.slice(0, 1), line.slice(1)];
  if (sign === "+")
    return (
      <ins>
        <i class="unseen">added </i>+ {text}
      </ins>
    );
  if (sign === "-")
    return (
      <del>
        <i class="unseen">removed </i>- {text}
      </del>
    );
  return <span>&nbsp; {text}</span>;
}

function compare(before: string, after: string): Hunk[] {
  const [old, made] = [ended(before), ended(after)];
  const options = { context: CONTEXT_LINES, maxEditLength: MOST_CHANGES };
  const patch = structuredPatch("", "", old, made, undefined, undefined, options);
  if (patch !== undefined) return patch.hunks.map(({ newStart, lines }) => ({ at: newStart, lines }));
  const signed = (sign: string, text: string): string[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => `${sign}${line}`);
  return [{ at: 1, lines: [...signed("-", old), ...signed("+", made)] }];
}

/** With line feeds alone, as a form's field is read, and one at the end. */
function ended(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

function plural(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}
