import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { ensureEngine, type Engine } from "../../../rehearsal/engine/index.ts";
import { OLDEST_CLI } from "../../../stacks/commands/deployed/cli.ts";
import { stackShell, succeed, type Shell } from "../../journeys/typed.ts";
import { startServerlessStage, type ServerlessStage } from "../../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../../support/stack.ts";

const UNCHANGED = /Resources:\n +\d+ unchanged\n/;

let world: ServerlessStage | undefined;
let newest: Shell;
/** The oldest engine; the reason if Go is missing to build it. */
let oldest: Engine | { missing: string };

beforeAll(async () => {
  oldest = await oldestEngine();
  if ("missing" in oldest) return;
  world = await startServerlessStage();
  newest = await stackShell(await world.stack(), "oldest-engine");
}, ENGINE_MS);

afterAll(() => world?.close(), UPDATE_MS);

/** Builds the oldest engine that is supported into the cache, unless it is there. */
async function oldestEngine(): Promise<Engine | { missing: string }> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    return await ensureEngine({ exactly: join(import.meta.dirname, "oldest"), log });
  } catch (error) {
    const isMissing = error instanceof BuildFailure && error.code === "engine_go_missing";
    if (!isMissing || process.env["CI"]) throw error;
    return { missing: error.message };
  }
}

test(
  "the oldest engine takes a stack up, under the policies, and down again, and reads the state of the newest",
  async ({ skip }) => {
    if ("missing" in oldest) return skip(oldest.missing);
    const shell = { ...newest, environment: { ...newest.environment, ...oldest.env } };
    const said = async (where: Shell, line: string): Promise<string> => (await succeed(where, line)).said;
    expect(await said(shell, "pulumi version")).toBe(`v${OLDEST_CLI}\n`);

    expect(await said(shell, "npm run --silent policies -- test")).toContain("No mandatory rule is broken.");
    expect(await said(shell, "pulumi up -s test")).toMatch(/Resources:\n +\+ \d+ created\n/);
    expect(await said(shell, "pulumi preview -s test")).toMatch(UNCHANGED);
    expect(await said(newest, "pulumi up -s test")).toMatch(UNCHANGED);
    expect(await said(shell, "pulumi preview -s test")).toMatch(UNCHANGED);
    expect(await said(shell, "npm run --silent drift -- test")).toContain("No drift.");
    expect(await said(shell, "pulumi destroy -s test")).toMatch(/- \d+ deleted/);
  },
  3 * UPDATE_MS,
);
