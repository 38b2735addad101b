import { expect, test } from "vitest";
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
