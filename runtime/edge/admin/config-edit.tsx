import { CONFIG_LIMIT_BYTES, type ConfigText, type ToldProblem } from "../../contract/control.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { createRedactor } from "../../shared/redact.ts";
import { ROUTES } from "../../contract/routes.ts";
import { readFields } from "../form.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { LinkLine, TextRegion } from "../ui/document.tsx";
import { Editor, Submit } from "../ui/form.tsx";
import { AlertBox } from "../ui/state.tsx";
import { attempt } from "../operate.ts";
import {
  type Edited,
  originOf,
  readConfigText,
  replaceConfigText,
  type Replaced,
  withOrigin,
} from "./config-file.ts";
import { BackLink, configReviewPage, ProblemsAlert, SecretsAlert } from "./config-review.tsx";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import { diffText } from "./change-diff.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/** Matches the SHA-256 of the config file that the edit is based on, or `none` if no file existed. */
export const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;
const FORM = { text: /^/, expected: EXPECTED };
const ABOUT = "Saving makes these changes. A running gateway then applies the file automatically.";
const TITLE = "Edit the configuration";

/** `GET /_admin/config/edit`: the config file in an editor. Does not wake the container. */
export async function editConfig(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  if ((await sandbox.status()).state === "stopped") {
    const detail = "The container is stopped; the file can be read once it runs.";
    return editPage(context, undefined, { problem: reason("gateway_not_ready", detail) });
  }
  const { value: file, problem } = await attempt(LIMIT_MS, readConfigText(sandbox, "file"));
  if (file?.secrets !== undefined) return secretsPage(context, file);
  const edited = file && { text: file.text ?? "{}\n", expected: file.sha256 ?? "none" };
  return editPage(context, edited, { problem });
}

/**
 * `POST /_admin/config/edit`, fields `text` and `expected`: shows the editor again after the review, with the same
 * text.
 */
export async function editConfigOn(context: PageContext): Promise<Response> {
  return editPage(context, await readEdited(context));
}

/**
 * `POST /_admin/config/review`, fields `text` and `expected`: shows the changes, or the editor if the text has
 * problems.
 */
export async function reviewConfig(context: PageContext, options: AdminOptions): Promise<Response> {
  const edited = await readEdited(context);
  try {
    const replaced = await replaceConfigText(options.sandbox, edited, false);
    return await showReview(context, options, edited, replaced);
  } catch (error) {
    return showRefusal(context, edited, error);
  }
}

/**
 * `POST /_admin/config/check`, fields `text` and `expected`: returns problems in the config `text` as JSON. Does not
 * wake the container.
 */
export async function checkConfig(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  const { problems } = await replaceConfigText(sandbox, await readEdited(context), false);
  return context.json({ problems });
}

/** `POST /_admin/config/save`, fields `text` and `expected`: validates the text again and writes the file. */
export async function saveConfig(context: PageContext, options: AdminOptions): Promise<Response> {
  const edited = await readEdited(context);
  const before = await attempt(LIMIT_MS, readConfigText(options.sandbox, "file"));
  let diff: string | undefined;
  try {
    const replaced = await replaceConfigText(options.sandbox, edited, true);
    if (replaced.problems.length > 0) return await showReview(context, options, edited, replaced);
    // The container has redacted both the old and the new text.
    diff = before.value && diffText(before.value.text ?? "", replaced.text);
  } catch (error) {
    return showRefusal(context, edited, error);
  }
  await recordChange(context, options, { action: "config", diff });
  return goTo(context, { path: originOf(context) ?? ROUTES.configPage.path }, "saved");
}

/**
 * Reads the form and restores LF line ends, because forms submit CRLF:
 * https://url.spec.whatwg.org/#concept-urlencoded-serializer
 */
async function readEdited(context: PageContext): Promise<Edited> {
  const { text, expected } = await readFields(context.req.raw, FORM);
  return { text: text.replaceAll("\r\n", "\n"), expected };
}

async function showReview(
  context: PageContext,
  { sandbox }: AdminOptions,
  { expected }: Edited,
  { text, problems }: Replaced,
): Promise<Response> {
  const edited = { text, expected };
  if (problems.length > 0) return editPage(context, edited, { problems });
  const file = await readConfigText(sandbox, "file");
  if ((file.sha256 ?? "none") !== expected) throw new StewardError("config_changed");
  const shown = { title: "Review the change", about: ABOUT, before: file.text ?? "", problems };
  return configReviewPage(context, { ...shown, edited });
}

/**
 * Shows the submitted text and the error. Masks only what looks like a secret, because the deployment's secrets are
 * unknown here.
 */
async function showRefusal(context: PageContext, edited: Edited, error: unknown): Promise<Response> {
  if (!(error instanceof StewardError)) throw error;
  const problem = error.reason;
  const shown = { ...edited, text: createRedactor({})(edited.text) };
  if (problem.code === "config_changed") return changedPage(context, shown, problem);
  return editPage(context, shown, { problem });
}

interface Wrong {
  problem?: Reason | undefined;
  problems?: readonly ToldProblem[];
}

function editPage(
  context: PageContext,
  edited: Edited | undefined,
  { problem, problems = [] }: Wrong = {},
): Promise<Response> {
  const content = (
    <>
      <AlertBox reason={problem} />
      <ProblemsAlert problems={problems} />
      {edited !== undefined && (
        <form class="wide" method="post" action={withOrigin(context, ROUTES.configReview.path)}>
          <Editor
            label="The config file, JSON"
            text={edited.text}
            describedBy={problems.length > 0 ? "hint problems" : problem ? "hint reason" : "hint"}
            isWrong={problem !== undefined || problems.length > 0}
            isConfig
            check={ROUTES.configCheck.path}
            problems={problems}
          />
          <p id="hint" class="soft">
            At most {CONFIG_LIMIT_BYTES / 1024} KiB. Enter a secret as a variable:{" "}
            <code>{'{"env": "NAME"}'}</code>. Nothing is saved yet.
          </p>
          <input type="hidden" name="expected" value={edited.expected} />
          <Submit>Review the change</Submit>
        </form>
      )}
      <BackLink context={context} />
    </>
  );
  const status = problems.length > 0 ? 422 : statusOf(edited && problem);
  return adminPage(context, { title: TITLE, scripts: ["editor.js"] }, content, status);
}

function secretsPage(context: PageContext, file: ConfigText): Promise<Response> {
  const content = (
    <>
      <SecretsAlert {...file} />
      <LinkLine look="button primary" href={ROUTES.configMend.path}>
        Find secrets that a variable already holds
      </LinkLine>
      <TextRegion label="The config file">{file.text ?? ""}</TextRegion>
      <BackLink context={context} />
    </>
  );
  return adminPage(context, { title: TITLE }, content);
}

/** Shows the submitted text after somebody else changed the file. */
function changedPage(context: PageContext, { text }: Edited, problem: Reason): Promise<Response> {
  const content = (
    <>
      <AlertBox reason={problem} />
      <LinkLine look="button primary" href={withOrigin(context, ROUTES.configEdit.path)}>
        Edit the file as it is now
      </LinkLine>
      <h2>What you wrote</h2>
      <p>Not saved. Apply your change to the current file.</p>
      <TextRegion label="What you wrote">{text}</TextRegion>
    </>
  );
  return adminPage(context, { title: "The file has changed" }, content, statusOf(problem));
}
