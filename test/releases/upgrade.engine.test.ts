import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  restorePreviousVersion,
  readPreviousVersion,
  type PreviousVersion,
} from "../../infra/serverless/previous-version.ts";
import { LEDGER_FORMAT, STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { cli, partOf, readData, say, type Service } from "./data.ts";
import {
  idsIn,
  Losses,
  manifestOf,
  ofLaterVersion,
  RELEASES,
  REPLACED,
  withoutWriters,
  writersIn,
} from "./releases.ts";
import { type KillPoint, openServerless, type ServerlessUpgrade } from "./serverless.ts";

const WAIT = { timeout: 60_000, interval: 200 };
/** Around the first and the last request by which an update of the Worker changes the account. */
const KILLS: readonly KillPoint[] = [
  { path: /\/versions$/, when: "before" },
  { path: /\/versions$/, when: "after" },
  { path: /\/deployments$/, when: "after" },
];

describe.each(RELEASES)("a serverless stack of $release", { timeout: UPDATE_MS }, (entry) => {
  const { release, deleted, changelog } = entry;
  const { serverless: archived, stateSchema } = manifestOf(release);
  let upgrade: ServerlessUpgrade;
  let former: PreviousVersion | undefined;

  beforeAll(async () => {
    upgrade = await openServerless(release);
    former = await readPreviousVersion(upgrade.deployed);
  }, ENGINE_MS);

  afterAll(() => upgrade?.close(), UPDATE_MS);

  test("loses nothing in the preview but what each update replaces, and what the changelog names", async () => {
    // The release may be the present version, which alone would change nothing.
    await upgrade.stack.setConfig("steward:logLevel", { value: "debug" });
    const losses = new Losses();
    await upgrade.stack.preview({ onEvent: losses.onEvent });
    expect(losses.beyond(REPLACED.serverless)).toEqual(deleted);
    expect(await readFile("CHANGELOG.md", "utf8")).toContain(changelog);
  });

  test("is updated after updates whose engine was killed", async () => {
    for (const point of KILLS) await upgrade.upKilledAt(point);
    await upgrade.stack.up();
    expect(Object.keys((await upgrade.stack.preview()).changeSummary)).toEqual(["same"]);
  });

  test("has all its data after the update, answers, and keeps backups that can be restored", async () => {
    const service = await upgrade.service();
    expect(await say(service, upgrade.platforms, "after the update")).toContain("after the update");
    expect(partOf(await readData(service), archived.data)).toMatchObject(archived.data);
    for (const id of archived.data.backups) await cli(service, `backup verify ${id}`);
    await cli(service, "backup create");
  });

  test("goes back to the version before, with its data", async () => {
    const service = await upgrade.service();
    await restorePreviousVersion(upgrade.deployed, former as PreviousVersion);
    await upgrade.run("archived");
    await restoreIfNewer(service);
    expect(await say(service, upgrade.platforms, "on the version before")).toContain("on the version before");
    expect(partOf(await readData(service), archived.data)).toMatchObject(archived.data);
  });

  test("goes forward again", async () => {
    await upgrade.run("present");
    await upgrade.stack.up({ refresh: true });
    const service = await upgrade.service();
    expect(await say(service, upgrade.platforms, "forward again")).toContain("forward again");
    expect(partOf(await readData(service), archived.data)).toMatchObject(archived.data);
  });

  /** Takes the way of docs/upgrades.md where the former version does not read the data any more. */
  async function restoreIfNewer({ url, headers }: Service): Promise<void> {
    if (stateSchema === STATE_SCHEMA) return;
    const readiness = async () => (await fetch(url, { headers: { accept: "application/json" } })).text();
    await vi.waitFor(async () => expect(await readiness()).toContain("data_newer"), WAIT);
    const restored = await fetch(new URL("/_admin/backups/restore", url), {
      method: "POST",
      headers: { ...headers, origin: url, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ id: archived.data.backups.at(-1) ?? "", config: "generation" }),
      redirect: "manual",
    });
    expect(restored.headers.get("location")).toBe("/_admin/backups?done=restored");
  }

  // After the update, each release's state is the present version's: one of them is enough.
  if (entry !== RELEASES.at(-1)) return;

  test("is refused once a later version deployed it, and left as it is", async () => {
    const { stack } = upgrade;
    const state = await stack.exportStack();
    const account = await upgrade.account();
    const refused = async (
      operation: "preview" | "up" | "refresh" | "destroy",
      format: "state" | "ledger",
    ) => {
      const text = `steward 9.9.9 deployed this stack, and ${VERSION} does not support its format of ${format} (state_newer)`;
      await expect(stack[operation](), operation).rejects.toThrow(text);
      expect((await upgrade.account()) === account, operation).toBe(true);
    };
    await stack.importStack(ofLaterVersion(state, "ledger"));
    await refused("preview", "ledger");
    await stack.importStack(ofLaterVersion(state, "state"));
    await refused("preview", "state");
    // The automation API updates without a preview.
    await refused("up", "state");
    await refused("refresh", "state");
    await refused("destroy", "state");
    expect(idsIn(await stack.exportStack())).toEqual(idsIn(state));
  });

  test("is marked by an update that changes nothing, so that an older version knows it", async () => {
    const { stack } = upgrade;
    const deployed = ofLaterVersion(await stack.exportStack(), "state");
    await stack.importStack(withoutWriters(deployed));
    expect(Object.keys((await stack.up()).summary.resourceChanges ?? {})).toEqual(["same"]);
    const writers = writersIn(await stack.exportStack());
    expect(writers.length).toBeGreaterThan(5);
    expect(writers).toEqual(
      writersIn(deployed).map(() => ({ version: VERSION, formats: { state: 1, ledger: LEDGER_FORMAT } })),
    );
  });
});
