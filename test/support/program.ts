import { createRequire } from "node:module";
import type { PulumiFn } from "@pulumi/pulumi/automation/index.js";

/**
 * The stacks' program as Node itself loads it. Pulumi serialises the code of dynamic providers, and
 * what the test runner makes of a module cannot be serialised.
 */
export function stackProgram(): PulumiFn {
  const require = createRequire(import.meta.url);
  const { program } = require("../../stacks/program.ts") as typeof import("../../stacks/program.ts");
  return program;
}
