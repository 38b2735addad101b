import { describe, expect, test } from "vitest";
import { operatorCommands, UNPLACED } from "../../../runtime/contract/operator-commands.ts";

const checkout = operatorCommands({ stack: "dev", pulumi: "pulumi", script: (name) => `npm run ${name} --` });
const release = operatorCommands({
  stack: "acme/dev",
  pulumi: "npx steward-deploy pulumi",
  script: (name) => `npx steward-deploy ${name}`,
});

test("a command names the stack and how this installation is started", () => {
  expect(checkout.pulumi("up", "--refresh")).toBe("pulumi up -s dev --refresh");
  expect(release.pulumi("stack output")).toBe("npx steward-deploy pulumi stack output -s acme/dev");
  expect(checkout.script("rollout", "--yes")).toBe("npm run rollout -- dev --yes");
  expect(release.script("orphans")).toBe("npx steward-deploy orphans acme/dev");
  expect(checkout.tool("image")).toBe("npm run image");
  expect(checkout.cli("login")).toBe("pulumi login");
});

test("without a stack a command has its placeholder", () => {
  expect(UNPLACED.pulumi("cancel")).toBe("pulumi cancel -s <stack>");
  expect(UNPLACED.script("backup")).toBe("npm run backup -- <stack>");
});

describe("a configuration value", () => {
  test.each([
    ["10m", "10m"],
    ["a b", "'a b'"],
    ["it's", String.raw`'it'\''s'`],
    ['["op@example.com"]', `'["op@example.com"]'`],
    ["$HOME `id`", "'$HOME `id`'"],
    ["", "''"],
    ["<value>", "<value>"],
    ["<team>.cloudflareaccess.com", "<team>.cloudflareaccess.com"],
  ])("%s is one word of a shell", (value, word) => {
    expect(checkout.configSet("steward:key", value)).toBe(`pulumi config set -s dev steward:key ${word}`);
  });

  test("is no option, whatever it begins with", () => {
    expect(checkout.configSet("steward:key", "-5")).toBe("pulumi config set -s dev -- steward:key -5");
  });

  test("is read from a file that is named", () => {
    expect(checkout.configSet("steward:key", "my key.pub", { file: true })).toBe(
      "pulumi config set -s dev steward:key < 'my key.pub'",
    );
  });

  test("is set where the stack's settings are", () => {
    const elsewhere = operatorCommands({
      stack: "dev",
      pulumi: "pulumi",
      script: String,
      configFile: "my stacks/Pulumi.dev.yaml",
    });
    expect(elsewhere.configRemove("steward:a.b", { path: true })).toBe(
      "pulumi config rm -s dev --config-file 'my stacks/Pulumi.dev.yaml' --path steward:a.b",
    );
  });
});
