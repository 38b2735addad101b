import { html } from "hono/html";
import type { ContainerConfig, SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";

/** What the page of the config shows. */
export interface ConfigView {
  visitor: Visitor;
  status: SandboxStatus;
  /** `undefined` while the container is stopped, or does not answer. */
  file: ContainerConfig | undefined;
  problem: Reason | undefined;
}

/** The page of `/_admin/config`. */
export function configPage({ visitor, status, file, problem }: ConfigView): Markup {
  return adminFrame(
    { title: "Configuration", visitor },
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
    <dl>
      ${problems.map(
        (one) =>
          html`<dt><code>${one.path}</code></dt>
            <dd>${one.message}</dd>`,
      )}
    </dl>
    <h2>File</h2>
    <p>
      <code>${path}</code>, with its secrets redacted. It is changed with <code>steward config set</code>.
    </p>
    ${
      config === null
        ? html`<p class="soft">It is not JSON.</p>`
        : html`<pre role="region" aria-label="The config file">${text}</pre>`
    }`;
}
