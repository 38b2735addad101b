import type { ContainerConfig } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { containerConfig } from "../debug-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { ContainerAnswer } from "../ui/state.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { askOrRecall } from "./answers.ts";
import { ProblemList } from "./config-review.tsx";
import type { AdminOptions, PageContext } from "./options.ts";

/**
 * Repairs of an invalid config, from the smallest change to the largest. Each shows its changes before the operator
 * confirms.
 */
const REPAIRS = [
  {
    path: ROUTES.configMend.path,
    name: "Migrate deprecated keys",
    about: "deprecated keys are migrated and unknown ones removed, as steward doctor --fix does.",
  },
  {
    path: ROUTES.configEdit.path,
    name: "Correct it by hand",
    about: "all problems are shown before anything is saved.",
  },
  {
    path: ROUTES.configLastGood.path,
    name: "Go back to the last valid config",
    about: "the config of the newest backup in which it was valid.",
  },
  {
    path: ROUTES.configFreshPage.path,
    name: "Reset to defaults",
    about: "the file is set aside, and the gateway writes a new one from its environment.",
  },
] as const;

/** `GET /_admin/config`: the redacted config file and its problems. Does not wake the container. */
export async function showConfig(
  context: PageContext,
  { sandbox, answers }: AdminOptions,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const ask = () => containerConfig(sandbox);
  const answer = await askOrRecall(answers, visitor, "config", ask);
  const unknown = "The file can be read once the container has run.";
  return adminPage(
    context,
    { title: "Configuration", asOf: answer.asOf, waits: true },
    <ContainerAnswer visitor={visitor} answer={answer} unknown={unknown} show={filePart} />,
  );
}

function filePart({ config, path, valid, problems }: ContainerConfig): Markup {
  return (
    <>
      <h2>Check</h2>
      <p class={`state ${valid ? "ok" : "bad"}`}>{valid ? "The file is valid" : "The file is not valid"}</p>
      {!valid && (
        <>
          <ProblemList problems={problems} />
          <Repairs />
        </>
      )}
      <h2>File</h2>
      <p>
        <code>{path}</code>, with its secrets redacted.
      </p>
      <LinkLine look={valid ? "button primary" : "button"} href={ROUTES.configEdit.path}>
        Edit the file
      </LinkLine>
      {config === null ? (
        <p class="soft">The file is not JSON.</p>
      ) : (
        <pre role="region" aria-label="The config file">
          {JSON.stringify(config, null, 2)}
        </pre>
      )}
    </>
  );
}

function Repairs(): Markup {
  return (
    <>
      <h2 id="repairs">Repairs</h2>
      <p>Each repair first shows what it would change.</p>
      <ul>
        {REPAIRS.map(({ path, name, about }) => (
          <li>
            <a href={path}>{name}</a>: {about}
          </li>
        ))}
      </ul>
    </>
  );
}
