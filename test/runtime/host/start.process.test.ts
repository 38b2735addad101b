import path from "node:path";
import { expect, test } from "vitest";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { type NodeSql, openSqlite } from "../../../runtime/host/ledger.ts";
import { surroundings } from "../support/gateway.ts";
import { startRuntime } from "../support/processes.ts";

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
