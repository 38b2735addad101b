import { html } from "hono/html";
import type { ProcessInfo, SandboxStatus } from "../../contract/control.ts";
import type { Identity } from "../identity.ts";
import type { LedgerCounts } from "../ports.ts";
import { reasonBox, stateLine } from "./home.ts";
import { page, type Markup } from "./layout.ts";

/** What the overview shows. */
export interface Overview {
  identity: Identity;
  status: SandboxStatus;
  counts: LedgerCounts;
  /** The container's processes; empty while it is stopped. */
  processes: ProcessInfo[];
}

/** The overview of `/_admin/`. */
export function adminPage({ identity, status, counts, processes }: Overview): Markup {
  const coldStart = status.coldStartMs === undefined ? "not measured yet" : `${status.coldStartMs} ms`;
  return page(
    "steward administration",
    html`<h1>steward administration</h1>
      <p class="soft">Signed in as ${identity.name}</p>
      <h2>Gateway</h2>
      ${stateLine(status)} ${reasonBox(status.reason)}
      <dl>
        <dt>Since</dt>
        <dd><time datetime="${status.since}">${status.since}</time></dd>
        <dt>Version</dt>
        <dd>${status.version ?? "unknown while it is stopped"}</dd>
        <dt>Restarts</dt>
        <dd>${status.restarts}</dd>
        <dt>Last cold start</dt>
        <dd>${coldStart}</dd>
      </dl>
      <h2>Events</h2>
      <dl>
        <dt>Waiting</dt>
        <dd>${counts.received}</dd>
        <dt>Being delivered</dt>
        <dd>${counts.delivering}</dd>
        <dt>Answered</dt>
        <dd>${counts.answered}</dd>
        <dt>Given up</dt>
        <dd>${counts.dead}</dd>
      </dl>
      <h2>Processes</h2>
      ${processes.length === 0 ? html`<p class="soft">None runs while the container is stopped.</p>` : ""}
      <dl>
        ${processes.map(
          ({ name, state, pid, restarts }) =>
            html`<dt>${name}</dt>
              <dd>${state}${pid === null ? "" : `, pid ${pid}`}, ${restarts} restarts</dd>`,
        )}
      </dl>
      <p>
        <a href="/debug/processes?logs=true">Logs</a> · <a href="/debug/container-config">Configuration</a>
      </p>`,
  );
}
