import type { ConfigText, ToldProblem } from "../../contract/control.ts";
import { reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { adminPage } from "../ui/console.tsx";
import { Diff } from "../ui/diff.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { AlertBox, Prose } from "../ui/state.tsx";
import { type Edited, originOf, withOrigin } from "./config-file.ts";
import type { PageContext } from "./options.ts";

export interface ConfigReview {
  title: string;
  about: string;
  before: string;
  edited: Edited;
  problems: ToldProblem[];
  /** Button that replaces Save. The action at `path` makes the change without receiving the edited text. */
  inPlace?: { path: string; button: string; tone: "primary" | "danger" };
}

/** Renders a proposed change for review. The page has no save button if the new text has problems. */
export function configReviewPage(
  context: PageContext,
  { title, about, before, edited, problems, inPlace }: ConfigReview,
): Promise<Response> {
  const isRight = problems.length === 0;
  const expected = ["expected", edited.expected] as const;
  const sent = [["text", edited.text] as const, expected];
  const content = (
    <>
      <p>{about}</p>
      <ProblemsAlert problems={problems} />
      <h2>What changes</h2>
      <Diff before={before} after={edited.text} />
      <div class="actions">
        {isRight && inPlace !== undefined && (
          <ActionButton action={inPlace.path} fields={[expected]} tone={inPlace.tone}>
            {inPlace.button}
          </ActionButton>
        )}
        {isRight && inPlace === undefined && (
          <ActionButton action={withOrigin(context, ROUTES.configSave.path)} fields={sent} tone="primary">
            Save
          </ActionButton>
        )}
        {inPlace === undefined && (
          <ActionButton
            action={withOrigin(context, ROUTES.configEditOn.path)}
            fields={sent}
            tone={isRight ? undefined : "primary"}
          >
            Back to editing
          </ActionButton>
        )}
      </div>
      <BackLink context={context} />
    </>
  );
  return adminPage(context, { title }, content);
}

export function nothingToMendPage(context: PageContext, why: string): Promise<Response> {
  const content = (
    <>
      <p>{why}</p>
      <LinkLine href={ROUTES.configEdit.path}>Correct the file by hand</LinkLine>
      <BackLink context={context} />
    </>
  );
  return adminPage(context, { title: "Repair" }, content);
}

/** Explains that literal secrets prevent editing, and how to remove them. */
export function SecretsAlert({ secrets = [] }: Pick<ConfigText, "secrets">): Markup {
  const places = secrets.filter((path) => path !== "").join(", ");
  const where = places === "" ? "The file is not JSON and may contain a secret" : `A secret is in ${places}`;
  const detail = `${where}, in plain text. It is shown redacted and cannot be edited.`;
  return <AlertBox reason={reason("secret_in_plain", detail)} />;
}

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

export function BackLink({ context }: { context: PageContext }): Markup {
  const origin = originOf(context);
  if (origin !== undefined) return <LinkLine href={origin}>Back without a change</LinkLine>;
  return <LinkLine href={ROUTES.configPage.path}>Back to the configuration</LinkLine>;
}
