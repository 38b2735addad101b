import type { Context, Handler } from "hono";
import { CONFIG_LIMIT_BYTES } from "../../contract/control.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { createRedactor } from "../../shared/redact.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readFields } from "../form.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { backLink, configReviewPage } from "./config-review.tsx";
import { AlertBox } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { TextArea } from "../ui/form.tsx";
import { attempt } from "../operate.ts";
import { type Edited, readConfigText, replaceConfigText, type Replaced } from "./config-file.ts";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";

/** sha256, or that there was no file. */
export const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;
const FORM = { text: /^/, expected: EXPECTED };
const ABOUT = "Saving makes these changes. A running gateway then applies the file automatically.";

/** `GET /_admin/config/edit`: the file as a text to change; wakes nothing. */
export function editConfig({ sandbox }: AdminOptions): Handler<AccessVariables> {
  return async function handleEditConfig(context) {
    if ((await sandbox.status()).state === "stopped") {
      const problem = reason(
        "gateway_not_ready",
        "The container is stopped; the file can be read once it runs.",
      );
      return editPage(context, undefined, problem);
    }
    const { value: file, problem } = await attempt(LIMIT_MS, readConfigText(sandbox, "file"));
    const edited = file && { text: file.text ?? "{}\n", expected: file.sha256 ?? "none" };
    return editPage(context, edited, problem);
  };
}

/** `POST /_admin/config/edit`, fields `text` and `expected`: the form again, from the review. */
export function editConfigOn(): Handler<AccessVariables> {
  return async function handleEditConfigOn(context) {
    return editPage(context, await readEdited(context));
  };
}

/** `POST /_admin/config/review`, fields `text` and `expected`: what would change, and what is wrong. */
export function reviewConfig(options: AdminOptions): Handler<AccessVariables> {
  return async function handleReviewConfig(context) {
    const edited = await readEdited(context);
    try {
      return await showReview(
        context,
        options,
        edited,
        await replaceConfigText(options.sandbox, edited, false),
      );
    } catch (error) {
      return showRefusal(context, edited, error);
    }
  };
}

/** `POST /_admin/config/save`, fields `text` and `expected`: writes the file, once more checked. */
export function saveConfig(options: AdminOptions): Handler<AccessVariables> {
  return async function handleSaveConfig(context) {
    const edited = await readEdited(context);
    try {
      const replaced = await replaceConfigText(options.sandbox, edited, true);
      if (replaced.problems.length > 0) return await showReview(context, options, edited, replaced);
    } catch (error) {
      return showRefusal(context, edited, error);
    }
    await recordChange(context, options, { action: "config" });
    return goTo(context, ROUTES.configPage, "saved");
  };
}

/** A form's line ends are those of the network: https://url.spec.whatwg.org/#concept-urlencoded-serializer */
async function readEdited(context: Context<AccessVariables>): Promise<Edited> {
  const { text, expected } = await readFields(context.req.raw, FORM);
  return { text: text.replaceAll("\r\n", "\n"), expected };
}

async function showReview(
  context: Context<AccessVariables>,
  { sandbox }: AdminOptions,
  { expected }: Edited,
  { text, problems }: Replaced,
): Promise<Response> {
  const file = await readConfigText(sandbox, "file");
  if ((file.sha256 ?? "none") !== expected) throw new StewardError("config_changed");
  const shown = { title: "Review the change", about: ABOUT, before: file.text ?? "", problems };
  const status = problems.length === 0 ? 200 : 422;
  return configReviewPage(context, { ...shown, edited: { text, expected } }, status);
}

/** The text is kept. Nobody has looked through it for secrets here, but for those that show by their form. */
async function showRefusal(
  context: Context<AccessVariables>,
  edited: Edited,
  error: unknown,
): Promise<Response> {
  const problem = readReason(error);
  const kept = { ...edited, text: createRedactor({})(edited.text) };
  const page = problem.code === "config_changed" ? changedPage : editPage;
  return page(context, kept, problem, statusOf(problem));
}

function readReason(error: unknown): Reason {
  if (error instanceof StewardError) return error.reason;
  throw error;
}

/** The file as a text to change; `edited` is `undefined` where it cannot be read now. */
function editPage(
  context: Context<AccessVariables>,
  edited: Edited | undefined,
  problem?: Reason,
  status?: ReturnType<typeof statusOf>,
): Promise<Response> {
  const content = (
    <>
      <AlertBox reason={problem} /> {edited === undefined ? "" : editForm(edited)} {backLink()}
    </>
  );
  return adminPage(context, { title: "Edit the configuration" }, content, status);
}

/** The page after the file was changed by somebody else: what was written, to take it over by hand. */
function changedPage(
  context: Context<AccessVariables>,
  { text }: Edited,
  problem: Reason,
  status: ReturnType<typeof statusOf>,
): Promise<Response> {
  const content = (
    <>
      <AlertBox reason={problem} />
      <p>
        <a href={ROUTES.configEdit.path}>Edit the file as it is now</a>
      </p>
      <h2>What you wrote</h2>
      <p>
        Not saved. A secret may have another number in the current file, so carry the change over by hand.
      </p>
      <pre role="region" tabindex={0} aria-label="What you wrote">
        {text}
      </pre>
    </>
  );
  return adminPage(context, { title: "The file has changed" }, content, status);
}

function editForm({ text, expected }: Edited): Markup {
  return (
    <form class="wide" method="post" action={ROUTES.configReview.path}>
      <label for="text">The config file, JSON</label>
      <p id="hint" class="soft">
        At most {CONFIG_LIMIT_BYTES / 1024} KiB. A mark such as <code>"[kept secret 1]"</code> represents a
        secret in the file and leaves it unchanged. Enter a new secret as a variable:{" "}
        <code>
          {"{"}"env": "NAME"{"}"}
        </code>
        . Nothing is saved yet.
      </p>
      <TextArea
        id="text"
        name="text"
        rows={24}
        aria-describedby="hint"
        autocapitalize="off"
        autocomplete="off"
        spellcheck="false"
        required
        text={text}
      />
      <input type="hidden" name="expected" value={expected} />{" "}
      <button type="submit" class="primary">
        Review the change
      </button>
    </form>
  );
}
