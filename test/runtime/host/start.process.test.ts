import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { type NodeSql, openSqlite } from "../../../runtime/host/ledger.ts";
import { freePort } from "../../support/ports.ts";
import { surroundings } from "../support/gateway.ts";
import { eventually, programOf, startRuntime, temporaryDirectory } from "../support/processes.ts";

test("a data directory that cannot be created is reported with the fix", async () => {
  const { environment } = await surroundings();
  for (const STEWARD_HOME of ["/sys/steward", "/etc/hostname/steward"]) {
    const host = startRuntime("host/main.ts", { ...environment, STEWARD_HOME });
    expect([STEWARD_HOME, await host.exited]).toEqual([STEWARD_HOME, 1]);
    expect(host.stderr()).toContain("Error [data_directory_unwritable]: ");
    expect(host.stderr()).toContain(STEWARD_HOME);
  }
});

test("the ledger of a newer version is reported with the fix, and left as it is", async () => {
  const { home, environment } = await surroundings();
  const inside = <Result>(work: (sql: NodeSql) => Result): Result => {
    const sql = openSqlite(path.join(home, "state.db"));
    const result = work(sql);
    sql.close();
    return result;
  };
  inside((sql) => {
    const store = new LedgerStore(sql);
    store.record({ id: "Ev1", platform: "slack", conversation: "C1", receivedAt: 1, payload: {} });
    store.take(2, 1);
    sql.all("UPDATE ledger_format SET format = format + 1");
  });

  const host = startRuntime("host/main.ts", { ...environment, STEWARD_HOME: home });

  expect(await host.exited).toBe(1);
  expect(host.stderr()).toMatch(
    /^Error \[data_newer\]: The ledger has format \d, .*\nFix: Deploy the newer version/m,
  );
  expect(inside((sql) => sql.all("SELECT state, attempts FROM ledger"))).toEqual([
    { state: "delivering", attempts: 1 },
  ]);
});

test("its log is JSON, and lines for people on a terminal", async () => {
  const { home, environment } = await surroundings();
  const env = { ...environment, STEWARD_HOME: home, PORT: String(await freePort()) };
  const piped = startRuntime("host/main.ts", env);
  await eventually(() => piped.stdout().includes("steward listens"));
  expect(piped.stdout()).toMatch(
    /^\{"time":"[^"]+","level":"info","logger":"edge","message":"steward listens"/m,
  );
  piped.kill("SIGTERM");
  await piped.exited;

  // `script` gives its command a terminal of its own.
  const line = `exec ${process.execPath} ${programOf("host/main.ts")}`;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    env: { ...env, PATH: process.env["PATH"] },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let shown = "";
  child.stdout.on("data", (part: Buffer) => void (shown += part.toString()));
  await eventually(() => /gateway ready/.test(shown));
  child.kill("SIGTERM");
  expect(shown).toMatch(/^\d\d:\d\d:\d\d INFO    steward listens {2}address=127\.0\.0\.1 {2}port=\d+\r?$/m);
  expect(shown).not.toContain('{"time"');
});

describe.runIf(process.getuid?.() === 0)("a host that is to give each chat a user of its own", () => {
  const start = async (rights: readonly string[], prepare?: (home: string) => void) => {
    const { environment } = await surroundings();
    const home = path.join(await temporaryDirectory(), "data");
    prepare?.(home);
    const entry = programOf("host/main.ts");
    const { status, stderr } = spawnSync("setpriv", [...rights, process.execPath, entry], {
      env: { ...environment, STEWARD_HOME: home, TENANCY: "chat", PATH: process.env["PATH"] },
      encoding: "utf8",
    });
    return { status, stderr, home };
  };

  test.each([
    [["--reuid=10001", "--clear-groups"], "The process does not run as root."],
    [["--bounding-set=-setuid,-kill"], "The container lacks KILL, SETUID."],
    [["--bounding-set=-all"], "The container lacks CHOWN, KILL, SETGID, SETUID."],
  ])("does not start with %j, and leaves the data as it is", async (rights, detail) => {
    const { status, stderr, home } = await start(rights);
    expect(stderr).toContain(`Error [tenancy_unsupported]: ${detail}`);
    expect(stderr).toMatch(/^Fix: .*steward:tenancy to shared/m);
    expect(status).toBe(1);
    expect(existsSync(home)).toBe(false);
  });

  test("does not start with data of root's, and names the command that helps", async () => {
    const { status, stderr, home } = await start([], (folder) => {
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(path.join(folder, "steward.json"), "{}");
    });
    expect(stderr).toContain(`chown -R 10001:10001 ${home}`);
    expect(status).toBe(1);
  });
});
