import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, test } from "vitest";
import { providers } from "../../../infra/dynamic/providers.ts";
import { DynamicResource, type DynamicType } from "../../../infra/dynamic/resource.ts";
import { ROOT } from "../../../infra/shell/package.ts";

const TYPES = Object.keys(providers) as DynamicType[];

class Example extends DynamicResource {}

/** Code of each type's provider, as the engine gets it. */
const codes = new Map<string, string>();

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ type, inputs }) => {
      codes.set(type, inputs.__provider);
      return { id: type, state: inputs };
    },
    call: ({ inputs }) => inputs,
  });
  await Promise.all(TYPES.map((type) => urnOf(new Example(type, type, {}))));
});

function urnOf({ urn }: pulumi.Resource): Promise<string> {
  return new Promise((done) => urn.apply(done));
}

/** Evaluates a provider's code as the process does that runs dynamic providers, in the project's folder. */
function evaluated(type: string, node = process.versions.node): { handler(): object } {
  const code = codes.get(`pulumi-nodejs:dynamic/${type}`) ?? "throw new Error('no code');";
  const exports = {};
  const itself = { version: `v${node}`, versions: { node } };
  // oxlint-disable-next-line no-implied-eval -- the engine does the same with a state's code
  new Function("exports", "require", "process", code)(exports, createRequire(join(ROOT, "x")), itself);
  return exports as { handler(): object };
}

describe.each(TYPES)("the code of %s", (type) => {
  test("loads its provider", () => {
    expect(Object.keys(evaluated(type).handler())).toEqual(Object.keys(providers[type]));
  });

  test("names no place of this machine", () => {
    expect(codes.get(`pulumi-nodejs:dynamic/${type}`)).not.toContain(ROOT);
  });
});

test("a destroy with an older Node first on PATH names the one that is needed", () => {
  expect(() => evaluated("channels:SlackApp", "20.20.2")).toThrow(
    "steward needs Node 24 or newer, and this is v20.20.2.\n" +
      "  fix: type `npm run pulumi --` in place of `pulumi`, or put Node 24 first on PATH. [node_outdated]",
  );
});
