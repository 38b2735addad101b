import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";

test(
  "the SDKs are what the pinned generators make of the schema; else: npm run sdk",
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "steward-sdk-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const made = await runProcess(process.execPath, ["scripts/sdk/main.ts", "--out", folder]);
    expect(made.code, made.stderr).toBe(0);
    const compared = await runProcess("diff", ["--recursive", "--brief", "sdk", folder]);
    expect(compared.stdout).toBe("");
  },
  15 * 60_000,
);
