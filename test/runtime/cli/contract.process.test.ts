import { join } from "node:path";
import { expect, test } from "vitest";
import { ContractReport, formOf } from "../../../runtime/gateway/contract-report.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { stewardHere } from "../support/cli.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

const MINUTE_MS = 60_000;

async function report() {
  const home = await temporaryDirectory();
  const database = openStore(join(home, "state.db"));
  let now = 1_795_000_000_000;
  return {
    findings: new ContractReport(database, () => now),
    again: () => new ContractReport(database, () => now),
    pass: (ms: number) => void (now += ms),
    run: (...args: string[]) => stewardHere({ ...SECRETS, STEWARD_HOME: home }, ...args),
  };
}

test("what was not understood is listed with its count, and as JSON with the form of a sample", async () => {
  const { findings, pass, run } = await report();
  expect((await run("contract")).stdout).toBe("All received data was understood.\n");
  const sample = { message: { text: "my secret plan", hologram: { size: 7 } } };
  findings.note("message", "telegram: message.hologram", sample);
  findings.note("message", "telegram: message.hologram", sample);
  pass(MINUTE_MS);
  findings.note("message", "telegram: message.hologram", sample);
  findings.note("stream", "openai/x: finish reason eos");

  expect((await run("contract")).stdout).toMatch(/message +telegram: message\.hologram +3 /);
  const listed = await run("contract", "--json");
  expect(JSON.parse(listed.stdout)).toEqual({
    findings: [
      expect.objectContaining({ area: "message", count: 3, sample: expect.stringContaining("hologram") }),
      expect.objectContaining({ area: "stream", what: "openai/x: finish reason eos", count: 1 }),
    ],
  });
  expect(listed.stdout).not.toContain("secret plan");
});

test("a flood of kinds fills no disk, and known ones are still counted", async () => {
  const { findings, again, pass } = await report();
  for (let kind = 0; kind < 1_000; kind += 1) findings.note("message", `telegram: message.x${kind}`);
  expect(findings.list()).toHaveLength(200);
  const restarted = again();
  restarted.note("message", "telegram: message.y");
  pass(MINUTE_MS);
  restarted.note("message", "telegram: message.x0");
  expect(restarted.list()).toHaveLength(200);
  expect(restarted.list()[0]).toMatchObject({ what: "telegram: message.x0", count: 2 });
});

test("the form of a value holds no text, no number and no name that people gave", () => {
  const value = {
    text: "hello",
    n: 4711,
    ok: true,
    none: null,
    list: [1, "a", {}, 4],
    "Ada Lovelace": { id: 9 },
  };
  expect(JSON.parse(formOf(value))).toEqual({
    text: "string",
    n: "number",
    ok: true,
    none: null,
    list: ["number", "string", {}],
    "…": { id: "number" },
  });
  let deep: unknown = "x";
  for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
  expect(formOf(deep).length).toBeLessThan(2_001);
});
