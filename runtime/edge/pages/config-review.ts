import { html } from "hono/html";
import type { ConfigRefusal } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Edited } from "../admin/config-file.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { diffPart } from "./diff.ts";
import type { Markup } from "./layout.ts";

/** What the page before a change of the config shows. */
export interface ConfigReviewView {
  visitor: Visitor;
  title: string;
  /** What this change is, in a sentence. */
  about: string;
  /** The file as it is. */
  before: string;
  edited: Edited;
  problems: ConfigRefusal["problems"];
}

/** What a change would do, and the buttons; one that leaves the file wrong cannot be saved. */
export function configReviewPage(view: ConfigReviewView): Markup {
  const { visitor, title, about, before, edited, problems } = view;
  return adminFrame(
    { title, visitor },
    html`<p>${about}</p>
      ${problems.length === 0 ? "" : problemsAlert(problems)}
      <h2>What changes</h2>
      ${diffPart(before, edited.text)}
      <div class="actions">
        ${problems.length === 0 ? textForm(ROUTES.configSave.path, edited, "Save") : ""}
        ${textForm(ROUTES.configEditOn.path, edited, "Back to editing")}
      </div>
      ${backLink()}`,
  );
}

/** What the page before a fresh file shows. */
export interface ConfigFreshView extends Pick<ConfigReviewView, "visitor" | "before"> {
  /** What the gateway's next start would write. */
  after: string;
  expected: string;
}

/** The page of `/_admin/config/fresh`. */
export function configFreshPage({ visitor, before, after, expected }: ConfigFreshView): Markup {
  return adminFrame(
    { title: "Begin with a fresh file", visitor },
    html`<p>
        The file is set aside beside the new one, the gateway is restarted and writes its config from its
        environment. Everything that was configured beyond that no longer holds.
      </p>
      <h2>What changes</h2>
      ${diffPart(before, after)}
      <form method="post" action="${ROUTES.configFresh.path}">
        <input type="hidden" name="expected" value="${expected}" />
        <button type="submit">Begin with a fresh file</button>
      </form>
      ${backLink()}`,
  );
}

/** The page of a repair that finds nothing to do, and why in a sentence. */
export function nothingToMendPage(visitor: Visitor, why: string): Markup {
  return adminFrame(
    { title: "Repair", visitor },
    html`<p>${why}</p>
      <p><a href="${ROUTES.configEdit.path}">Correct the file by hand</a></p>
      ${backLink()}`,
  );
}

/** Every problem with its place. */
export function problemList(problems: ConfigRefusal["problems"]): Markup {
  return html`<dl class="stack">
    ${problems.map(
      ({ path, message, help }) =>
        html`<dt><code>${path === "" ? "(root)" : path}</code></dt>
          <dd>${message}${help === undefined ? "" : html`<br /><span class="soft">${help}</span>`}</dd>`,
    )}
  </dl>`;
}

function problemsAlert(problems: ConfigRefusal["problems"]): Markup {
  return html`<div role="alert">
    <aside>
      <h2>Not valid: ${problems.length} problem${problems.length === 1 ? "" : "s"}</h2>
      ${problemList(problems)}
    </aside>
  </div>`;
}

function textForm(action: string, { text, expected }: Edited, label: string): Markup {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="text" value="${text}" />
    <input type="hidden" name="expected" value="${expected}" />
    <button type="submit">${label}</button>
  </form>`;
}

function backLink(): Markup {
  return html`<p><a href="${ROUTES.configPage.path}">Back to the configuration</a></p>`;
}
