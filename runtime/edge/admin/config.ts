import type { Handler } from "hono";
import { html } from "hono/html";
import type { ContainerConfig, SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { containerConfig } from "../debug-routes.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import type { Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import { problemList } from "./config-review.ts";
import { type Flash, readFlash } from "./flash.ts";

/** Repairs of a config that is not valid, the mildest first. Each shows what it changes before it is done. */
const REPAIRS = [
  {
    path: ROUTES.configMend.path,
    name: "Carry old keys over",
    about: "deprecated keys get their present form, unknown ones are dropped, as steward doctor --fix does.",
  },
  {
    path: ROUTES.configEdit.path,
    name: "Correct it by hand",
    about: "every problem is told before anything is saved.",
  },
  {
    path: ROUTES.configLastGood.path,
    name: "Go back to the last good one",
    about: "the config of the newest backup in which it was valid.",
  },
  {
    path: ROUTES.configFreshPage.path,
    name: "Begin with a fresh file",
    about: "the file is set aside, and the gateway writes one from its environment.",
  },
] as const;

const LIMIT_MS = 10_000;

/** `GET /_admin/config`: the config file, redacted, and whether it is valid; wakes nothing. */
export function showConfig(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleConfigPage(context) {
    const status = await sandbox.status();
    const { value: file, problem } =
      status.state === "stopped" ? {} : await attempt(LIMIT_MS, containerConfig(sandbox));
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(configPage({ visitor, flash: readFlash(context), status, file, problem }));
  };
}

/** Content of the page of the config. */
interface ConfigView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  /** `undefined` while the container is stopped, or does not answer. */
  file: ContainerConfig | undefined;
  problem: Reason | undefined;
}

/** The page of `/_admin/config`. */
function configPage({ visitor, flash, status, file, problem }: ConfigView): Markup {
  return adminFrame(
    { title: "Configuration", visitor, flash },
    html`${stateLine(status)} ${reasonBox(problem)} ${file === undefined ? "" : filePart(file)}
    ${
      status.state === "stopped"
        ? html`<p class="soft">The file can be read once the container runs.</p>`
        : ""
    }`,
  );
}

function filePart({ config, path, valid, problems }: ContainerConfig): Markup {
  const text = JSON.stringify(config, null, 2);
  return html`<h2>Check</h2>
    <p class="state ${valid ? "ok" : "bad"}">${valid ? "The file is valid" : "The file is not valid"}</p>
    ${valid ? "" : html`${problemList(problems)} ${repairsPart()}`}
    <h2>File</h2>
    <p><code>${path}</code>, with its secrets redacted.</p>
    <p><a href="${ROUTES.configEdit.path}">Edit the file</a></p>
    ${
      config === null
        ? html`<p class="soft">It is not JSON.</p>`
        : html`<pre role="region" aria-label="The config file">${text}</pre>`
    }`;
}

function repairsPart(): Markup {
  return html`<h2 id="repairs">Repairs</h2>
    <p>Nothing is done before you have seen what changes.</p>
    <ul>
      ${REPAIRS.map(({ path, name, about }) => html`<li><a href="${path}">${name}</a>: ${about}</li>`)}
    </ul>`;
}
