import { html } from "hono/html";
import { CONFIG_LIMIT_BYTES } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Edited } from "../admin/config-file.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox } from "./home.ts";
import type { Markup } from "./layout.ts";

/** What the page of the form shows. */
export interface ConfigEditView {
  visitor: Visitor;
  /** `undefined` where the file cannot be read now. */
  edited: Edited | undefined;
  problem?: Reason | undefined;
}

/** The page of `/_admin/config/edit`: the file as a text to change. */
export function configEditPage({ visitor, edited, problem }: ConfigEditView): Markup {
  return adminFrame(
    { title: "Edit the configuration", visitor },
    html`${alertBox(problem)} ${edited === undefined ? "" : editForm(edited)}
      <p><a href="${ROUTES.configPage.path}">Back to the configuration</a></p>`,
  );
}

/** The page after the file was changed by somebody else: what was written, to take it over by hand. */
export function configChangedPage({ visitor, edited, problem }: ConfigEditView): Markup {
  const written = html`<h2>What you wrote</h2>
    <p>
      It is not saved. A kept secret may have another number in the file as it is now, so carry the change
      over by hand.
    </p>
    <pre role="region" tabindex="0" aria-label="What you wrote">${edited?.text}</pre>`;
  return adminFrame(
    { title: "The file was changed meanwhile", visitor },
    html`${alertBox(problem)}
      <p><a href="${ROUTES.configEdit.path}">Edit the file as it is now</a></p>
      ${written}`,
  );
}

function alertBox(problem: Reason | undefined): Markup | "" {
  return problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`;
}

function editForm({ text, expected }: Edited): Markup {
  return html`<form class="wide" method="post" action="${ROUTES.configReview.path}">
    <label for="text">The config file, JSON</label>
    <p id="hint" class="soft">
      At most ${CONFIG_LIMIT_BYTES / 1024} KiB. A mark such as <code>"[kept secret 1]"</code> stands for a
      secret of the file and keeps it. A new secret is a variable: <code>{"env": "NAME"}</code>. Nothing is
      saved yet.
    </p>
    ${textField(text)}
    <input type="hidden" name="expected" value="${expected}" />
    <button type="submit">Review the change</button>
  </form>`;
}

// A line feed right after the tag is the tag's own: https://html.spec.whatwg.org/multipage/syntax.html#element-restrictions
function textField(text: string): Markup {
  const start = html`<textarea
    id="text"
    name="text"
    rows="24"
    aria-describedby="hint"
    autocapitalize="off"
    autocomplete="off"
    spellcheck="false"
    required
  >`;
  return html`${start}${"\n"}${text}</textarea>`;
}
