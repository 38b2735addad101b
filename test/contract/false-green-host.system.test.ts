import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { tryWords } from "../support/false-green.ts";
import { canMount } from "../support/full-volume.ts";
import { startTroubledHost } from "../support/troubled-services.ts";

test.runIf(canMount)(
  "a host says what is wrong within half a minute, and that it is mended, fault by fault",
  { timeout: 600_000 },
  async () => {
    const { volume, ...host } = await startTroubledHost(1, 0);

    const told = await tryWords({
      ...host,
      data: async () => volume,
      lockLedger: async () => {
        const other = new DatabaseSync(join(volume, "state.db"), { timeout: 10_000 });
        other.exec("BEGIN IMMEDIATE");
        return () => other.close();
      },
      spoilBackups: async () => {
        const folder = join(volume, "backups");
        await rename(folder, `${folder}-before`).catch(() => undefined);
        await writeFile(folder, "no folder");
        return async () => {
          await rm(folder);
          await rename(`${folder}-before`, folder).catch(() => undefined);
        };
      },
    });

    expect(told).toBe(14);
  },
);
