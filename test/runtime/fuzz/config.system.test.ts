import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatConfigProblems } from "../../../runtime/contract/config/index.ts";
import { mendConfigValue } from "../../../runtime/contract/config/mend.ts";
import { readConfigText } from "../../../runtime/contract/config/text.ts";
import { surroundings } from "../support/gateway.ts";
import { startRuntime } from "../support/processes.ts";

/** Fixed, so that a failure comes again; change it to look elsewhere. */
const SEED = 20_261_121;
const KEYS = [
  "channels",
  "telegram",
  "slack",
  "discord",
  "botToken",
  "dm",
  "dmPolicy",
  "allowFrom",
  "models",
  "primary",
  "fallbacks",
  "providers",
  "schedules",
  "tools",
  "mcp",
  "agent",
  "agents",
  "sessions",
  "gateway",
  "env",
  "__proto__",
  "constructor",
  "toString",
];
const SECRET = "hunter2-never-to-be-told";

const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e99, "", "open", "*", SECRET, "9".repeat(200)),
    fc.array(tie("node"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 6 })), tie("node")), {
        maxLength: 5,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).node;

/** Configs of all kinds, each wrong in at least one place: an unknown key at the top, or text that is no JSON. */
const malformed = fc.oneof(
  fc
    .dictionary(fc.constantFrom(...KEYS), value)
    .map((config) => JSON.stringify({ ...config, unknown_: SECRET })),
  value.map((one) => JSON.stringify([one])),
  value.map((one) => `${JSON.stringify({ one })}${SECRET}`),
);

test(`2,000 malformed configs are each told clearly (seed ${SEED})`, () => {
  fc.assert(
    fc.property(malformed, (text) => {
      const { value: parsed, result } = readConfigText(text, {});
      expect(result.ok).toBe(false);
      const report = formatConfigProblems("steward.json", result.ok ? [] : result.problems);
      expect(report.split("\n").length).toBeGreaterThan(1);
      expect(report).toMatch(/^Invalid config at steward\.json:\n- /);
      expect(report).not.toContain(SECRET);
      expect(report).not.toMatch(/\bat .*:\d+:\d+|TypeError/);
      expect(JSON.stringify(mendConfigValue(parsed).changes)).not.toContain(SECRET);
    }),
    { seed: SEED, numRuns: 2_000 },
  );
});

test("a few dozen through a real start: exit code 1, the report, nothing stored", async () => {
  const { home, environment } = await surroundings();
  for (const text of fc.sample(malformed, { seed: SEED, numRuns: 24 })) {
    await writeFile(join(home, "steward.json"), text);
    const gateway = startRuntime("gateway/main.ts", environment);
    expect(await gateway.exited, text).toBe(1);
    expect(gateway.stderr()).toMatch(/^Invalid config at /);
    expect(gateway.stderr()).not.toMatch(/\bat .*:\d+:\d+|TypeError/);
    expect(gateway.stderr()).not.toContain(SECRET);
    expect(existsSync(join(home, "state.db"))).toBe(false);
  }
});
