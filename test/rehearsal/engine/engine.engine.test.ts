import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";
import { ensureEngine } from "../../../rehearsal/engine/index.ts";
import { installedEngine } from "../../../rehearsal/engine/installed.ts";
import { linkProject } from "../../../rehearsal/stack.ts";
import { createTestStack, ENGINE_MS, type TestStack, UPDATE_MS } from "../../support/stack.ts";

const installed = (await installedEngine(process.env)) !== undefined;

/** A dynamic resource that tells which Node ran its provider. */
class Probe extends pulumi.dynamic.Resource {
  declare readonly node: pulumi.Output<string>;

  constructor(name: string, value: string) {
    const provider: pulumi.dynamic.ResourceProvider = {
      create: (inputs) => Promise.resolve({ id: name, outs: { ...inputs, node: process.execPath } }),
    };
    super(provider, name, { value, node: undefined });
  }
}

/** A policy pack that refuses one value. Packs are CommonJS, and find their packages from their own folder. */
const PACK = `
const { createRequire } = require("node:module");
const { PolicyPack } = createRequire(process.env.STEWARD_NODE_MODULES + "/x")("@pulumi/policy");
new PolicyPack("probe", { policies: [{
  name: "no-bad-value", description: "A value is not bad.", enforcementLevel: "mandatory",
  validateResource: (args, report) => { if (args.props.value === "bad") report("this value is bad"); },
}] });
`;

/** A plugin written as a Node program. It only returns a schema. */
const PLUGIN = `
const { main } = require("@pulumi/pulumi/provider");
main({ version: "0.0.1", getSchema: async () => '{"name":"probe","version":"0.0.1"}' }, process.argv.slice(2));
`;

describe("the engine", () => {
  let folder: string;
  let probe: TestStack;
  let value = "good";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "steward-engine-"));
    await mkdir(join(folder, "pack"));
    await writeFile(
      join(folder, "pack", "PulumiPolicy.yaml"),
      "runtime:\n  name: nodejs\n  options:\n    typescript: false\nmain: index.cjs\n",
    );
    await writeFile(
      join(folder, "pack", "package.json"),
      '{"name":"pack","version":"0.0.1","main":"index.cjs"}',
    );
    await writeFile(join(folder, "pack", "index.cjs"), PACK);
    probe = await createTestStack({
      program: () => Promise.resolve({ node: new Probe("tiny", value).node }),
      config: {},
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await probe?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("is found in the cache, and not built again", async () => {
    const again = await ensureEngine({ log: () => undefined });

    expect(again.source).not.toBe("built");
  });

  // An installed engine is as its maker built it.
  test.skipIf(installed)(
    "reads the word lists of its password meter only where it rates a value",
    async () => {
      const env = { ...process.env, ...probe.environment, GODEBUG: "inittrace=1" };
      const pulumi = (...words: string[]) => runProcess("pulumi", words, { cwd: probe.folder, env });
      const version = await pulumi("version");
      expect(version.stderr).toContain("init github.com/pulumi/");
      // The lists and what is made of them are 8 and 10 MB.
      expect(version.stderr).not.toMatch(/zxcvbn-go\/\w+ @.* \d{7,} bytes/);

      const set = (...value: string[]) =>
        pulumi("config", "set", "--non-interactive", "-s", "test", "probe:token", ...value);
      const refused = await set("xq7Lr0Zp9wVt3kBn8sYd");
      expect(refused.stderr).toContain("looks like a secret");
      expect(refused.code).not.toBe(0);
      // As long, and made of words of the lists.
      expect((await set("password football mary")).code).toBe(0);
    },
  );

  test(
    "runs a dynamic resource in the Node of this process",
    async () => {
      const update = await probe.stack.up();

      expect(update.outputs["node"]?.value).toBe(process.execPath);
      expect(update.summary.resourceChanges).toMatchObject({ create: 2 });
    },
    UPDATE_MS,
  );

  test(
    "previews an unchanged program as unchanged, under a policy pack and without a warning",
    async () => {
      let output = "";
      const preview = await probe.stack.preview({
        policyPacks: [join(folder, "pack")],
        onOutput: (text) => (output += text),
      });

      expect(preview.changeSummary).toEqual({ same: 2 });
      expect(output).toContain("probe@v0.0.1");
      expect(output).not.toContain("warning");
    },
    UPDATE_MS,
  );

  test(
    "runs a plugin that is a Node program, and says so if its packages are missing",
    async () => {
      const plugin = join(folder, "plugin");
      await mkdir(plugin);
      await writeFile(join(plugin, "PulumiPlugin.yaml"), "runtime: nodejs\n");
      await writeFile(join(plugin, "package.json"), '{"name":"probe","main":"index.js"}');
      await writeFile(join(plugin, "index.js"), PLUGIN);
      const env = { ...process.env, ...probe.environment };
      const schema = () => runProcess("pulumi", ["package", "get-schema", plugin], { cwd: folder, env });
      const missing = await schema();
      expect(missing.stderr).toContain("Have you run npm install");

      await linkProject(folder);
      const found = await schema();
      expect(found.stdout, found.stderr).toContain('"name": "probe"');
    },
    UPDATE_MS,
  );

  test(
    "stops a preview that a mandatory policy refuses",
    async () => {
      value = "bad";
      const preview = probe.stack.preview({ policyPacks: [join(folder, "pack")] });

      await expect(preview).rejects.toThrow(/no-bad-value[\s\S]*this value is bad/);
    },
    UPDATE_MS,
  );
});
