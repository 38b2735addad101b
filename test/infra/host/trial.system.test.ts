import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tryOnCopy } from "../../../infra/host/trial.ts";
import { docker } from "../../../infra/shell/docker.ts";
import { changedImage } from "../../support/changed-image.ts";
import { engine } from "../../support/docker.ts";
import { ADMIN_TOKEN, createTalkingHostStack, type TalkingHostStack } from "../../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../../support/stack.ts";

const tag = `steward-test-${randomUUID().slice(0, 8)}`;
/** A gateway that cannot read the data of the version before, and would tell a secret then. */
const CANNOT_READ = `
import { DatabaseSync } from "node:sqlite";
const database = new DatabaseSync(process.env.STEWARD_HOME + "/state.db", { readOnly: true });
const { sessions } = database.prepare("SELECT count(*) AS sessions FROM sessions").get();
console.error("cannot read the " + sessions + " sessions of state.db", process.env.ANTHROPIC_API_KEY, process.env.ADMIN_TOKEN);
process.exit(3);`;

const reason = engine.ok ? "" : engine.reason;

describe.skipIf(!engine.ok)(
  `a new version on a copy of the data${reason === "" ? "" : ` (skipped: ${reason})`}`,
  () => {
    let subject: TalkingHostStack;

    beforeAll(async () => {
      subject = await createTalkingHostStack();
      await subject.stack.up();
      await subject.say("hello before the trial");
    }, ENGINE_MS + UPDATE_MS);

    afterAll(async () => {
      await subject?.close();
      await docker(["rmi", "--force", `${tag}:good`, `${tag}:bad`]);
    }, UPDATE_MS);

    /** What must be the same after a trial, and all that there is with the stack's name. */
    async function everything() {
      const { container } = subject.names;
      const format = "--format={{.Id}} {{.State.StartedAt}} {{.Image}}";
      const { stdout: runs } = await docker(["container", "inspect", format, container]);
      const filter = `--filter=name=${container}`;
      const { stdout: names } = await docker(["ps", "--all", filter, "--format={{.Names}}"]);
      const { stdout: volumes } = await docker(["volume", "ls", "--quiet", filter]);
      return { runs, names, volumes };
    }

    test(
      "a version that becomes ready passes, and nothing is left",
      async () => {
        const before = await everything();
        const image = await changedImage(`${tag}:good`, { "another-file": "" });
        expect(await tryOnCopy(subject.names.container, image)).toBe(true);
        expect(await everything()).toEqual(before);
        expect(await subject.say("hello after the trial")).toBe(200);
      },
      UPDATE_MS,
    );

    test(
      "one that does not start on this data is refused in its own words, and nothing is left",
      async () => {
        const before = await everything();
        const image = await changedImage(`${tag}:bad`, { "gateway/main.js": CANNOT_READ });
        const tried = tryOnCopy(subject.names.container, image, { readyMs: 30_000 });
        const failure = await tried.catch((error: unknown) => error);
        expect(failure).toMatchObject({ code: "upgrade_trial_failed" });
        expect(String(failure)).toContain("cannot read the 1 sessions of state.db");
        expect(String(failure)).not.toContain(ADMIN_TOKEN);
        expect(await everything()).toEqual(before);
      },
      UPDATE_MS,
    );

    test(
      "nothing is left of a trial that a signal ends",
      async () => {
        const before = await everything();
        const { container } = subject.names;
        const trial = pathToFileURL(path.resolve("infra/host/trial.ts")).href;
        const program = `await (await import("${trial}")).tryOnCopy("${container}", "${tag}:bad");`;
        const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
        const ended = once(child, "exit");
        await expect
          .poll(async () => (await everything()).names, { timeout: 30_000, interval: 200 })
          .toContain("-trial");
        child.kill("SIGTERM");
        expect((await ended)[1]).toBe("SIGTERM");
        expect(await everything()).toEqual(before);
      },
      UPDATE_MS,
    );

    test("a container that does not run has nothing to copy", async () => {
      expect(await tryOnCopy(`${subject.names.container}-none`, "steward:none")).toBe(false);
    });
  },
);
