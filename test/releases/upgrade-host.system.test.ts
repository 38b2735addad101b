import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STATE_SCHEMA } from "../../runtime/contract/names.ts";
import { engine } from "../support/docker.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { cli, type Data, partOf, readData, say } from "./data.ts";
import { openHost, type HostUpgrade } from "./host.ts";
import { Losses, manifestOf, RELEASES, REPLACED } from "./releases.ts";

describe.skipIf(!engine.ok).each(RELEASES)("a host stack of $release", { timeout: UPDATE_MS }, (entry) => {
  const { release, deleted, changelog } = entry;
  const { host: archived, stateSchema } = manifestOf(release);
  let upgrade: HostUpgrade;

  beforeAll(async () => {
    upgrade = await openHost(release);
  }, ENGINE_MS);

  afterAll(() => upgrade?.close(), UPDATE_MS);

  async function dataAfter(text: string): Promise<Data> {
    await say(upgrade.service, upgrade.platforms, text);
    return partOf(await readData(upgrade.service), archived.data);
  }

  test("loses nothing in the preview but what each update replaces, and what the changelog names", async () => {
    // The release may be the present version, which alone would change nothing.
    await upgrade.stack.setConfig("steward:logLevel", { value: "debug" });
    const losses = new Losses();
    await upgrade.stack.preview({ onEvent: losses.onEvent });
    expect(losses.beyond(REPLACED.host)).toEqual(deleted);
    expect(await readFile("CHANGELOG.md", "utf8")).toContain(changelog);
  });

  test("is updated with all its data after updates whose engine was killed", async () => {
    const { container } = upgrade.names;
    await upgrade.upKilledAt(`${container}-former`, "created");
    await upgrade.upKilledAt(container, "running");
    await upgrade.stack.up();
    expect(Object.keys((await upgrade.stack.preview()).changeSummary)).toEqual(["same"]);
    expect(await dataAfter("after the update")).toMatchObject(archived.data);
    for (const id of archived.data.backups) await cli(upgrade.service, `backup verify ${id}`);
  });

  test("goes back to the version before with its data, or with that of a backup if the schema is newer", async () => {
    await upgrade.stack.setConfig("steward:image", { value: upgrade.image });
    const preview = await upgrade.stack.preview().then(() => "previewed", String);
    const isNewer = stateSchema < STATE_SCHEMA;
    expect(preview.includes("data_newer")).toBe(isNewer);
    expect(await dataAfter("as before")).toMatchObject(archived.data);
    await (isNewer ? upgrade.goBackWith(archived.data.backups.at(-1) ?? "") : upgrade.stack.up());
    expect(await dataAfter("back")).toMatchObject(isNewer ? withoutLedger(archived.data) : archived.data);
  });

  test("goes forward again", async () => {
    await upgrade.stack.removeConfig("steward:image");
    await upgrade.stack.up();
    expect(await dataAfter("forward again")).toMatchObject(withoutLedger(archived.data));
    expect((await readData(upgrade.service)).backups).toEqual(expect.arrayContaining(archived.data.backups));
  });
});

/** A host's ledger is in the database, so it is lost where a backup replaces that. */
function withoutLedger(data: Data): Partial<Data> {
  const { ledger: _, ...rest } = data;
  return rest;
}
