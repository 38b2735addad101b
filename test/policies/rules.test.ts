import { readFile, readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { stewardPolicies } from "../../policies/rules.ts";
import { CASES } from "./cases/index.ts";
import { passing, violations } from "./resources.ts";

describe("the rules", () => {
  test.each(stewardPolicies)("$name passes a stack as it should be", async (rule) => {
    expect(await violations(rule, passing())).toEqual([]);
  });

  test.each(CASES)("$rule: $what", async ({ rule: name, change, stack, config, messages }) => {
    const rule = stewardPolicies.find((one) => one.name === name);
    const samples = passing();
    change(samples);

    expect(rule && (await violations(rule, samples, { stack, config }))).toEqual(messages);
  });

  test("have a case each that they refuse", () => {
    const refused = CASES.filter(({ messages }) => messages.length > 0).map(({ rule }) => rule);

    expect(stewardPolicies.map(({ name }) => name).filter((name) => !refused.includes(name))).toEqual([]);
  });

  test("are all in the list: one file each", async () => {
    const files = await readdir("policies/rules");

    expect(files.map((file) => file.replace(".ts", "")).sort()).toEqual(
      stewardPolicies.map(({ name }) => name).sort(),
    );
  });

  test("say what holds, how grave it is, and what they are about", () => {
    const bare = stewardPolicies.filter(({ description, severity, tags = [] }) => {
      return !description.endsWith(".") || severity === undefined || tags.length === 0;
    });

    expect(bare).toEqual([]);
  });

  test("are in the README's table with their level, severity and topics", async () => {
    const readme = await readFile("policies/README.md", "utf8");
    const missing = stewardPolicies.filter(({ name, enforcementLevel, severity, tags = [] }) => {
      const row = readme.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
      return !row?.endsWith(`| ${enforcementLevel} | ${severity} | ${tags.join(", ")} |`);
    });

    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});
