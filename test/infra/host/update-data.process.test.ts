import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { SCHEMA_LABEL } from "../../../infra/bundle/arguments.ts";
import type { Containers, InspectedContainer } from "../../../infra/host/update/containers.ts";
import { backUp, restorePrevious } from "../../../infra/host/update/previous.ts";
import { type Finished, runProcess } from "../../../infra/shell/process.ts";
import { ensureDirectory } from "../../../runtime/process/files.ts";
import { tryLock } from "../../../runtime/process/lock.ts";
import { DATA_DIRECTORY } from "../../../runtime/contract/names.ts";
import { stewardHere } from "../../runtime/support/cli.ts";
import { writeConfig } from "../../runtime/support/gateway.ts";
import { SECRETS, temporaryDirectory } from "../../runtime/support/processes.ts";

type Answer = (words: readonly string[]) => Promise<Partial<Finished>>;

/** An engine whose containers run the real programs on a temporary data directory. */
function containers(answer: Answer, wait = () => {}): Containers {
  const found = { Config: { Labels: { [SCHEMA_LABEL]: "1" } }, State: { Running: false } };
  return {
    // The update reads only these fields.
    inspect: async () => found as unknown as InspectedContainer,
    docker: async ([verb, , ...words]) => {
      const finished = { code: 0, stdout: "", stderr: "", missing: false, timedOut: false };
      return { ...finished, ...(verb === "exec" && (await answer(words))) };
    },
    copy: async () => {},
    wait: async () => wait(),
  };
}

/** Restores the former version, which reads schema 1. `asking` runs before each question for the schema. */
async function restored(home: string, asking = () => {}) {
  const answers: Finished[] = [];
  const engine = containers(async (words) => {
    if (words.includes("list")) return { stdout: JSON.stringify({ backups: [{ id: "1" }] }) };
    if (words[0] !== "node") return {};
    asking();
    const script = words[2]?.replaceAll(DATA_DIRECTORY, home) ?? "";
    answers.push(await runProcess(process.execPath, ["-e", script]));
    return answers.at(-1) ?? {};
  });
  const report = await restorePrevious(engine, "steward");
  return { report, answers };
}

/** Readable for the container's user, because the script switches to it where the tests run as root. */
async function dataDirectory(): Promise<string> {
  const home = await temporaryDirectory();
  await chmod(home, 0o755);
  return home;
}

test("the schema of data that another process has locked is read when the lock is gone", async () => {
  const home = await dataDirectory();
  const file = join(home, "state.db");
  using database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 2; BEGIN EXCLUSIVE");
  await chmod(file, 0o644);
  const { report, answers } = await restored(home, () => setTimeout(() => database.exec("ROLLBACK"), 1_000));
  expect(answers).toMatchObject([{ code: 0, stdout: "2\n" }]);
  expect(report).toContain("with the data of the backup 1.");
});

test("a data directory without data has nothing newer, which is known at once", async () => {
  const { report, answers } = await restored(await dataDirectory());
  expect(answers).toMatchObject([{ code: 0, stdout: "0\n" }]);
  expect(report).toContain("The previous version runs again, as the container steward-former.");
});

test("a backup during another one is made after it", async () => {
  const home = await temporaryDirectory();
  await writeConfig(home);
  ensureDirectory(join(home, "backups"));
  const end = tryLock(join(home, "backups", ".lock"));
  let waits = 0;
  const engine = containers(
    ([, ...words]) => stewardHere({ ...SECRETS, STEWARD_HOME: home }, ...words),
    () => {
      waits += 1;
      end?.();
    },
  );
  expect(await backUp(engine, "steward")).toBe("00000001-00000001");
  expect(waits).toBe(1);
});
