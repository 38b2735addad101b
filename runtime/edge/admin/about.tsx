import { CHANGELOG, VERSION } from "../../contract/names.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { attempt } from "../operate.ts";
import type { ActivityEntry } from "../ports.ts";
import { adminPage } from "../ui/console.tsx";
import { Card, LinkLine, type Markup } from "../ui/document.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Dated } from "../ui/time.tsx";
import { LIMIT_MS } from "./answers.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const ENTRIES = 1_000;

/** `GET /_admin/rollouts`: versions that have run here. Does not wake the container. */
export async function showRollouts(
  context: PageContext,
  { activity, clock }: AdminOptions,
): Promise<Response> {
  await context.get("visitor")();
  const rollouts = rolloutsOf(await activity.activity(ENTRIES, ["deploy"]));
  const now = clock();
  const content =
    rollouts.length === 0 ? (
      <p class="empty">No rollouts yet.</p>
    ) : (
      <Table
        label="Rollouts"
        caption={
          <>
            Versions that have run here, newest first. <a href={CHANGELOG}>Changelog</a>
          </>
        }
        columns={[
          { head: "Since", cell: ({ at }) => <Dated at={at} now={now} /> },
          { head: "Version", kind: "name", cell: ({ version }) => version },
          { head: "What changed", cell: ({ change }) => change },
          { head: "By", cell: ({ by }) => by },
          {
            head: "State",
            cell: (row) => (
              <span class={row === rollouts[0] ? "badge ok" : "badge"} title={`Build ${row.bundle}`}>
                {row === rollouts[0] ? "Running" : "Replaced"}
              </span>
            ),
          },
        ]}
        rows={rollouts}
      />
    );
  return adminPage(context, { title: "Rollouts", waits: true }, content);
}

/**
 * Returns rollouts, each with its change from the previous rollout. `entries` must be `deploy` actions, newest first.
 */
function rolloutsOf(entries: readonly ActivityEntry[]) {
  const builds = entries.map(({ at, by, detail }) => {
    const [version = "", bundle = ""] = detail.split(" ");
    return { at, by, version, bundle };
  });
  return builds.map((one, index) => {
    const [before, ...earlier] = builds.slice(index + 1);
    const isBack = earlier.some(({ bundle }) => bundle === one.bundle);
    const change =
      before === undefined
        ? "First version"
        : isBack
          ? `Back from ${before.version} to an earlier build`
          : before.version === one.version
            ? `A new build of ${one.version}`
            : `Replaced ${before.version}`;
    return { at: one.at, by: one.by, version: one.version, bundle: one.bundle, change };
  });
}

/** `GET /_admin/about`: the running version, its start and the licence. Does not wake the container. */
export async function showAbout(
  context: PageContext,
  { activity, bundle, clock }: AdminOptions,
): Promise<Response> {
  const { value = [] } = await attempt(LIMIT_MS, activity.activity(ENTRIES, ["deploy"]));
  const [rollout] = rolloutsOf(value);
  return adminPage(context, { title: "About" }, (visitor) =>
    aboutPart(visitor, { bundle, rollout, now: clock() }),
  );
}

interface Edge {
  bundle: string;
  rollout: ReturnType<typeof rolloutsOf>[number] | undefined;
  now: number;
}

function aboutPart({ facts, environment }: Visitor, { bundle, rollout, now }: Edge): Markup {
  // Compare versions, not bundle hashes: on Cloudflare, Worker and container run different bundles.
  const { version } = facts.status;
  const inside = version ?? "unknown while asleep";
  const isOther = version !== undefined && version !== VERSION;
  const platform = navigator.userAgent.replace("/", " ");
  return (
    <div class="grid">
      <Card title="What runs here">
        <Facts
          facts={[
            [
              "steward",
              <>
                {VERSION} <a href={CHANGELOG}>Changelog</a>
              </>,
            ],
            ["Since", rollout && <Dated at={rollout.at} now={now} />],
            ["Change", rollout && `${rollout.change}, by ${rollout.by}`],
            ["In the container", isOther ? `${inside}: update in progress` : inside],
            ["Environment", environment ?? "unnamed"],
            ["Runs on", <span title={`Build ${bundle}`}>{platform.replace("-", " ")}</span>],
          ]}
        />
        <LinkLine look="button" href={ROUTES.rolloutsPage.path}>
          All rollouts
        </LinkLine>
      </Card>
      <Card title="Elsewhere">
        <ul>
          {[
            [ROUTES.chat.path, "Web chat"],
            [ROUTES.version.path, "Versions and attested secrets as JSON"],
            [ROUTES.metricsJson.path, "Metrics as JSON"],
          ].map(([path, title]) => (
            <li>
              <a href={path}>{title}</a>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Licence">
        <p>
          steward is licensed under the MIT licence. It includes Hono, Zod, jose and other packages, each
          under its own licence. <code>npm run sbom</code> lists them.
        </p>
      </Card>
    </div>
  );
}
