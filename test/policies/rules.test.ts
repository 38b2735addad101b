import { readFile, readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { stewardPolicies } from "../../policies/rules.ts";
import { CASES } from "./cases/index.ts";
import { passing, unknown, violations } from "./resources.ts";

test("the cases of every file are tried", async () => {
  const index = await readFile("test/policies/cases/index.ts", "utf8");
  const files = (await readdir("test/policies/cases")).filter((file) => !/^(?:case|index)\.ts$/.test(file));
  const missing = files.filter((file) => !index.includes(`from "./${file}"`));

  expect(missing.map((file) => `test/policies/cases/index.ts does not list the cases of ${file}`)).toEqual(
    [],
  );
});

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

  test.each(stewardPolicies)("$name reports no value that a preview does not know yet", async (rule) => {
    const reported: string[] = [];
    for (const [name, { props }] of Object.entries(passing())) {
      for (const key of Object.keys(props)) {
        const samples = passing();
        Object.defineProperty(samples[name]?.props, key, { enumerable: true, get: unknown });
        reported.push(...(await violations(rule, samples)).map((message) => `${name}.${key}: ${message}`));
      }
    }
    expect(reported).toEqual([]);
  });

  test("have a case each that they refuse", () => {
    const refused = CASES.filter(({ messages }) => messages.length > 0).map(({ rule }) => rule);
    const without = stewardPolicies.filter(({ name }) => !refused.includes(name));

    expect(without.map(({ name }) => `test/policies/cases refuses nothing by ${name}`)).toEqual([]);
  });

  test("are all in the list: one file each", async () => {
    const files = (await readdir("policies/rules")).map((file) => file.replace(".ts", ""));
    const names = stewardPolicies.map(({ name }) => name);

    expect(
      files.filter((file) => !names.includes(file)).map((file) => `policies/rules.ts does not list ${file}`),
    ).toEqual([]);
    expect(names.toSorted()).toEqual(files.toSorted());
  });

  test("say what holds, how grave it is, and what they are about", () => {
    const bare = stewardPolicies.filter(({ description, severity, tags = [] }) => {
      return !description.endsWith(".") || severity === undefined || tags.length === 0;
    });

    expect(bare).toEqual([]);
  });

  test("are in the README's table with their level, severity and topics", async () => {
    const readme = await readFile("policies/README.md", "utf8");
    const rows = stewardPolicies.map(({ name, enforcementLevel, severity, tags = [] }) => {
      const end = `| ${enforcementLevel} | ${severity} | ${tags.join(", ")} |`;
      const row = readme.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
      return row?.endsWith(end) ? [] : [`policies/README.md has no row of ${name} that ends with ${end}`];
    });

    expect(rows.flat()).toEqual([]);
  });
});
