import * as pulumi from "@pulumi/pulumi";
import { operatorStack } from "../shell/resource.ts";
import { explain, explanationText } from "../shell/explain.ts";
import { commandsFor } from "../shell/package.ts";

/** Turns an input into an output that resolves only after all checks have passed. */
export type CheckGate = <Value>(input: pulumi.Input<Value>) => pulumi.Output<Value>;

/**
 * Creates a gate that withholds values until all checks have passed. If a check fails, Pulumi registers nothing and
 * prints the error once, without a stack trace.
 */
export function gateOf(checks: Promise<unknown>): CheckGate {
  const passed = checks.then(() => true, throwExplained);
  return (input) => pulumi.all([input, passed]).apply(([value]) => value) as pulumi.Output<never>;
}

/**
 * Rethrows a RunError or an error without a code. Otherwise, throws a RunError with only the error's text and fix.
 */
export function throwExplained(error: unknown): never {
  const explanation = explain(error, commandsFor(operatorStack()));
  if (pulumi.RunError.isInstance(error) || explanation.code === undefined) throw error;
  throw runError(explanationText(explanation), error);
}

/** Creates an error that Pulumi prints as this text, without a stack trace. */
export function runError(text: string, cause: unknown): pulumi.RunError {
  const error = new pulumi.RunError(text, { cause });
  // Lock the message: the SDK would prefix it with "error serializing property …" for each resource.
  return Object.defineProperty(error, "message", { get: () => text, set() {} });
}
