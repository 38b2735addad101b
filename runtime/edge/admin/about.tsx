import type { Handler } from "hono";
import { ROUTES } from "../../contract/routes.ts";
import { VERSION } from "../../contract/names.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { adminPage } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import type { ActivityEntry } from "../ports.ts";
import { PlainTable, Facts } from "../ui/table.tsx";
import type { AdminOptions } from "./options.ts";

/** As many as are kept. */
const ENTRIES = 1_000;

/** `GET /_admin/rollouts`: the versions that have run here, newest first; wakes nothing. */
export function showRollouts({ activity, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleRollouts(context) {
    const entries = (await activity.activity(ENTRIES)).filter(({ action }) => action === "deploy");
    return adminPage(context, { title: "Rollouts", waits: true }, rolloutsPart(entries, clock()));
  };
}

function rolloutsPart(entries: readonly ActivityEntry[], now: number): Markup {
  if (entries.length === 0) return <p class="soft">No rollout is recorded yet.</p>;
  return (
    <PlainTable
      label="Rollouts"
      caption="Versions that have run here, newest first. A version that was taken back is there twice."
      columns={["Since", "Version", "Bundle", "State"]}
      rows={entries.map((entry, index) => rolloutRow(entry, index, now))}
    />
  );
}

function rolloutRow({ at, detail }: ActivityEntry, index: number, now: number): Markup {
  const [version = "", bundle = ""] = detail.split(" ");
  return (
    <tr>
      <td>
        <Age at={Date.parse(at)} now={now} />
      </td>
      <th scope="row">{version}</th>
      <td>
        <code>{bundle}</code>
      </td>
      <td>{index === 0 ? <span class="badge ok">Runs now</span> : <span class="soft">Replaced</span>}</td>
    </tr>
  );
}

/** `GET /_admin/about`: what runs here, and under which licence; wakes nothing. */
export function showAbout({ bundle }: AdminOptions): Handler<AccessVariables> {
  return async function handleAbout(context) {
    return adminPage(context, { title: "About" }, (visitor) => aboutPart(visitor, bundle));
  };
}

function aboutPart({ facts, environment }: Visitor, bundle: string): Markup {
  const { version, bundle: inside } = facts.status;
  const isOther = inside !== undefined && inside !== bundle;
  return (
    <>
      <section class="card">
        <h2>Versions</h2>
        <Facts
          facts={[
            ["steward", VERSION],
            ["In the container", version ?? "not known while it is stopped"],
            ["Bundle", <code>{bundle}</code>],
            ["Bundle in the container", isOther ? <code>{inside}</code> : undefined],
            ["Runs on", navigator.userAgent],
            ["Environment", environment ?? "not named"],
          ]}
        />
        <p>
          <a href={ROUTES.rolloutsPage.path}>Versions that have run here</a>
        </p>
      </section>
      <h2>Licence</h2>
      <p>
        steward is under the MIT licence. It holds Hono, Zod, jose and the other packages of its bill of
        materials, which <code>npm run sbom</code> prints, each under its own licence.
      </p>
      <h2>Elsewhere</h2>
      <ul>
        <li>
          <a href={ROUTES.chat.path}>Web chat</a>
        </li>
        <li>
          <a href={ROUTES.version.path}>Versions and attested secrets as JSON</a>
        </li>
        <li>
          <a href={ROUTES.metricsJson.path}>Metrics as JSON</a>
        </li>
      </ul>
    </>
  );
}
