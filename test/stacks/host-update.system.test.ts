import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { STATE_SCHEMA } from "../../runtime/contract/names.ts";
import { changedImage } from "../support/changed-image.ts";
import { engine } from "../support/docker.ts";
import { createTalkingHostStack, type TalkingHostStack } from "../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

/** Ends at once, and again whenever it is started. */
const EXITS = { "host/main.js": "process.exit(3);" };
/** A gateway that writes data of a form of its own, and never opens its port. */
const NEVER_READY = {
  "gateway/main.js": `const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync("/root/.steward/state.db");
    database.exec("ALTER TABLE sessions RENAME TO conversations; PRAGMA user_version = ${STATE_SCHEMA + 1};");
    setInterval(() => {}, 1_000);`,
};

describe.skipIf(!engine.ok)("an update of the host stack", { timeout: 2 * UPDATE_MS }, () => {
  let subject: TalkingHostStack;
  let former: string;
  let hash: string;
  const images: string[] = [];

  beforeAll(async () => {
    hash = (await buildBundle()).container.hash;
    subject = await createTalkingHostStack();
    former = `${subject.names.container}-former`;
    await subject.stack.up();
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    if (images.length > 0) await docker(["rmi", "--force", ...images]);
  }, UPDATE_MS);

  async function changed(programs: Record<string, string>): Promise<string> {
    const image = await changedImage(`${subject.names.container}:${images.length}`, programs);
    images.push(image);
    return image;
  }

  async function deploy(image?: string): Promise<string> {
    if (image === undefined) await subject.stack.removeConfig("steward:image");
    else await subject.stack.setConfig("steward:image", { value: image });
    return subject.stack.up().then(
      () => "",
      (error: unknown) => String(error),
    );
  }

  async function ready(): Promise<unknown> {
    const answer = await fetch(`${subject.url}/readyz`);
    return { status: answer.status, ...((await answer.json()) as object) };
  }

  async function sessions(container: string): Promise<{ messages: number }[]> {
    const { stdout } = await docker(["exec", container, "steward", "sessions", "list", "--json"]);
    return (JSON.parse(stdout) as { sessions: { messages: number }[] }).sessions;
  }

  /** The sessions once this many messages and their answers are stored: Slack shows an answer's text earlier. */
  async function answered(container: string, count: number): Promise<unknown> {
    const stored = async () => (await sessions(container)).reduce((sum, { messages }) => sum + messages, 0);
    await expect.poll(stored).toBe(2 * count);
    return sessions(container);
  }

  async function running(): Promise<string[]> {
    const filter = ["--filter", `name=^${subject.names.container}`];
    const { stdout } = await docker(["ps", ...filter, "--format", "{{.Names}}"]);
    return stdout.trim().split("\n");
  }

  test("goes back to the version before where the new one's process ends, and tells why", async () => {
    expect(await subject.say("before the update")).toBe(200);
    const kept = await answered(subject.names.container, 1);
    const said = await deploy(await changed(EXITS));

    expect(said).toContain("last exit code 3");
    expect(said).toContain(`The previous version runs again, as the container ${former}.`);
    await expect.poll(ready).toMatchObject({ status: 200, bundle: hash });
    expect(await running()).toEqual([former]);
    expect(await sessions(former)).toEqual(kept);
    expect(await subject.say("on the version before")).toBe(200);
  });

  test("tries again at the next update, and goes back again", async () => {
    const said = await subject.stack.up().catch(String);

    expect(said).toContain(`The previous version runs again, as the container ${former}.`);
    expect(await subject.say("still on the version before")).toBe(200);
  });

  test("puts the data back where a new version whose gateway never gets ready has changed its form", async () => {
    const kept = await answered(former, 3);
    const said = await deploy(await changed(NEVER_READY));

    expect(said).toMatch(/The previous version runs again, .* with the data of the backup \d{8}-\d{8}\./);
    await expect.poll(ready).toMatchObject({ status: 200, bundle: hash });
    expect(await sessions(former)).toEqual(kept);
    expect(await subject.say("with the data of before")).toBe(200);
  });

  test("takes a version that works, with the data, and keeps nothing of the one before", async () => {
    const said = await deploy(await changed({ "gateway/note": "another one" }));

    expect(said).toBe("");
    expect(await running()).toEqual([subject.names.container]);
    expect(await subject.say("on the new version")).toBe(200);
    const { stdout } = await docker(["ps", "--all", "--filter", `name=^${former}$`, "--quiet"]);
    expect(stdout).toBe("");
  });

  test("does not begin where the version that answers cannot be backed up", async () => {
    const { container } = subject.names;
    const backups = "/root/.steward/backups";
    await docker(["exec", container, "sh", "-c", `mv ${backups} ${backups}-away && touch ${backups}`]);
    const said = await deploy();
    await docker(["exec", container, "sh", "-c", `rm ${backups} && mv ${backups}-away ${backups}`]);

    expect(said).toContain(`${container} could not be backed up, so the update did not start`);
    expect(await running()).toEqual([container]);
    expect(await subject.say("as if nothing had been")).toBe(200);
  });

  test("leaves nothing behind when the stack goes while the version before runs", async () => {
    await deploy(await changed(EXITS));
    expect(await running()).toEqual([former]);
    await subject.stack.destroy();

    const filter = ["--all", "--filter", `name=^${subject.names.container}`];
    expect((await docker(["ps", ...filter, "--quiet"])).stdout).toBe("");
    expect((await docker(["volume", "ls", "--quiet"])).stdout.split("\n")).not.toContain(
      subject.names.volume,
    );
  });
});
