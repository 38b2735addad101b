import type { Context } from "hono";
import type { ConfigText, ToldProblem } from "../../contract/control.ts";
import { reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { adminPage } from "../ui/console.tsx";
import { Diff } from "../ui/diff.tsx";
import type { Markup } from "../ui/document.tsx";
import { AlertBox, Prose } from "../ui/state.tsx";
import { type Edited, originOf, withOrigin } from "./config-file.ts";

/** A change of the config, before it is made. */
export interface ConfigReview {
  title: string;
  /** Sentence about this change. */
  about: string;
  /** The file as it is. */
  before: string;
  edited: Edited;
  problems: ToldProblem[];
  /** Changes the file where it is: its text need not, or must not, pass through the page. */
  inPlace?: { path: string; button: string; tone: "primary" | "danger" };
}

/** Answers with what a change would do, and the buttons; one that leaves the file wrong cannot be saved. */
export function configReviewPage(
  context: Context<AccessVariables>,
  { title, about, before, edited, problems, inPlace }: ConfigReview,
): Promise<Response> {
  const isRight = problems.length === 0;
  const content = (
    <>
      <p>{about}</p>
      <ProblemsAlert problems={problems} />
      <h2>What changes</h2>
      <Diff before={before} after={edited.text} />
      <div class="actions">
        {isRight && inPlace !== undefined && (
          <form method="post" action={inPlace.path}>
            <input type="hidden" name="expected" value={edited.expected} />
            <button type="submit" class={inPlace.tone}>
              {inPlace.button}
            </button>
          </form>
        )}
        {isRight && inPlace === undefined && (
          <TextForm action={withOrigin(context, ROUTES.configSave.path)} edited={edited} primary>
            Save
          </TextForm>
        )}
        {inPlace === undefined && (
          <TextForm action={withOrigin(context, ROUTES.configEditOn.path)} edited={edited} primary={!isRight}>
            Back to editing
          </TextForm>
        )}
      </div>
      <BackLink context={context} />
    </>
  );
  return adminPage(context, { title }, content);
}

/** Answers that a repair finds nothing to do, and why in a sentence. */
export function nothingToMendPage(context: Context<AccessVariables>, why: string): Promise<Response> {
  const content = (
    <>
      <p>{why}</p>
      <p>
        <a href={ROUTES.configEdit.path}>Correct the file by hand</a>
      </p>
      <BackLink context={context} />
    </>
  );
  return adminPage(context, { title: "Repair" }, content);
}

/** Says that literal secrets keep a file from being edited, and what to do about it. */
export function SecretsAlert({ secrets = [] }: Pick<ConfigText, "secrets">): Markup {
  const places = secrets.filter((path) => path !== "").join(", ");
  const where = places === "" ? "The file is not JSON and may hold a secret" : `A secret stands in ${places}`;
  return (
    <AlertBox
      reason={reason(
        "secret_in_plain",
        `${where}, in plain text. It is shown redacted and cannot be edited.`,
      )}
    />
  );
}

/** Every problem with its line and place. */
export function ProblemList({ problems }: { problems: readonly ToldProblem[] }): Markup {
  return (
    <dl class="stack">
      {problems.map(({ path, message, line, help }) => (
        <>
          <dt>
            {line !== undefined && `Line ${line}: `}
            <code>{path === "" ? "(root)" : path}</code>
          </dt>
          <dd>
            <Prose text={message} />
            {help !== undefined && (
              <>
                <br />
                <span class="soft">
                  <Prose text={help} />
                </span>
              </>
            )}
          </dd>
        </>
      ))}
    </dl>
  );
}

/** The problems that keep a text from being saved; nothing if there are none. */
export function ProblemsAlert({ problems }: { problems: readonly ToldProblem[] }): Markup | null {
  if (problems.length === 0) return null;
  return (
    <div role="alert" id="problems">
      <aside>
        <h2>
          Not valid: {problems.length} problem{problems.length === 1 ? "" : "s"}
        </h2>
        <ProblemList problems={problems} />
      </aside>
    </div>
  );
}

/** Properties of {@link TextForm}. */
interface TextFormProps {
  action: string;
  edited: Edited;
  primary: boolean;
  children: string;
}

function TextForm({ action, edited: { text, expected }, primary, children }: TextFormProps): Markup {
  return (
    <form method="post" action={action}>
      <input type="hidden" name="text" value={text} />
      <input type="hidden" name="expected" value={expected} />
      <button type="submit" class={primary ? "primary" : undefined}>
        {children}
      </button>
    </form>
  );
}

/** The link from a page of a change to the page that it came from. */
export function BackLink({ context }: { context: Context<AccessVariables> }): Markup {
  const origin = originOf(context);
  return (
    <p>
      <a href={origin ?? ROUTES.configPage.path}>
        {origin === undefined ? "Back to the configuration" : "Back without a change"}
      </a>
    </p>
  );
}
