import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AS_IN_CONTAINER } from "../../support/host-tenants.ts";
import { temporaryDirectory } from "../support/processes.ts";

const PROGRAM = fileURLToPath(new URL("../support/tenant-users-program.ts", import.meta.url));

describe.runIf(process.getuid?.() === 0)("a process that starts chats' gateways", () => {
  test("uses its own files all the time, never as root, and its chats' processes have no rights", async () => {
    const home = await temporaryDirectory();
    chownSync(home, 10_001, 10_001);
    const [setpriv = "", ...rights] = AS_IN_CONTAINER;
    const { status, stdout, stderr } = spawnSync(setpriv, [...rights, process.execPath, PROGRAM, home], {
      encoding: "utf8",
      timeout: 30_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      failures: [],
      owners: [10_001],
      signals: ["SIGTERM"],
      child: [
        "Uid: 20000 20000 20000 20000",
        "Gid: 20000 20000 20000 20000",
        "Groups:",
        "CapPrm: 0000000000000000",
        "CapEff: 0000000000000000",
      ],
      own: [
        "Uid: 0 10001 0 10001",
        "Gid: 0 10001 0 10001",
        "Groups:",
        "CapPrm: 00000000000000e1",
        "CapEff: 0000000000000000",
      ],
      helpers: { count: 1, environment: "" },
    });
  });
});
