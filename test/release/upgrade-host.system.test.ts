import { readFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { docker } from "../../infra/shell/docker.ts";
import { AGENT, HOST_NAMES } from "../../runtime/contract/names.ts";
import { fixFor, succeed, type } from "../journeys/typed.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { freePort } from "../support/ports.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";
import { type PublishedVersions, publishVersions } from "./published.ts";

const { container, volume } = HOST_NAMES;
const { version: A } = packageJson;
const B = semver.inc(A, "patch") ?? "";
const UNABLE = semver.inc(B, "patch") ?? "";
/** Makes a gateway one that cannot read the data of the version before. Its image's build starts it without any. */
const cannotRead = (gateway: string): string => `{
  const place = process.env.STEWARD_HOME + "/state.db";
  if (!place.includes("warm-") && process.getBuiltinModule("node:fs").existsSync(place)) {
    console.error("cannot read the former version's state.db");
    process.exit(3);
  }
}
${gateway}`;

const release = await holdHostNames();
let project: Project;
let versions: PublishedVersions;

beforeAll(async () => {
  if (!engine.ok) return;
  project = await emptyProject("upgrade-host", { docker: true });
  await project.begin("host");
  versions = await publishVersions(project);
  await versions.publish(B, { gateway: (text) => text }, "latest");
  await versions.publish(UNABLE, { gateway: cannotRead });
}, ENGINE_MS);

afterAll(async () => {
  if (!engine.ok) return;
  await docker(["rm", "--force", container, `${container}-former`]);
  await docker(["volume", "rm", "--force", volume]);
  for (const version of [B, UNABLE]) {
    await docker(["rmi", "--force", `${AGENT}:${version.replaceAll(".", "").padStart(16, "0")}`]);
  }
  await versions?.close();
  await project?.remove();
}, UPDATE_MS);
afterAll(release);

test.skipIf(!engine.ok)(
  "a host takes the version that starts on a copy of its data, and not the one that does not",
  async () => {
    const { shell, works } = project;
    const port = await freePort();
    await project.configure(
      { "steward:hostPort": String(port) },
      { "steward:adminToken": "an-admin-token-0123456789", "steward:anthropicApiKey": "sk-test-0123456789" },
    );
    await works("pulumi up -s dev");
    const everything = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: "application/json" } });
      const { version } = (await answer.json()) as { version: string };
      const names = ["package.json", "package-lock.json"].map((name) => path.join(shell.folder, name));
      const files = await Promise.all(names.map((name) => readFile(name, "utf8")));
      // Other tests' containers have names of their own that begin in the same way.
      const own = `name=^${container}(-trial|-trial-copy|-former)?$`;
      const { stdout: containers } = await docker([
        "ps",
        "--all",
        "--no-trunc",
        `--filter=${own}`,
        "--format={{.Names}} {{.ID}}",
      ]);
      const { stdout: volumes } = await docker([
        "volume",
        "ls",
        "--quiet",
        `--filter=name=${container}-trial`,
      ]);
      return { version, files, containers, volumes };
    };
    const before = await everything();
    expect(before).toMatchObject({ version: A, volumes: "" });

    const unable = await type(shell, `npx steward-deploy upgrade dev --to ${UNABLE} --yes`);
    expect(unable.code, unable.said).toBe(1);
    expect(fixFor("upgrade_trial_failed", unable.said)).toContain(
      `npx steward-deploy upgrade dev --to ${UNABLE} --without-trial`,
    );
    expect(unable.said).toContain("cannot read the former version's state.db");
    expect(await everything()).toEqual(before);

    const { said } = await succeed(shell, "npx steward-deploy upgrade dev --yes");
    expect(said).toContain("The new version started on a copy of the data and became ready.");
    expect(await everything()).toMatchObject({ version: B, volumes: "" });
    expect((await works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
    await works("pulumi destroy -s dev");
  },
  UPDATE_MS * 4,
);
