import * as pulumi from "@pulumi/pulumi";
import { operatorStack } from "../shell/resource.ts";
import { explain, explanationText } from "../shell/explain.ts";
import { commandsFor } from "../shell/package.ts";

/** Holds back what depends on it until all checks have passed. */
export type CheckGate = <Value>(input: pulumi.Input<Value>) => pulumi.Output<Value>;

/**
 * Creates the gate of a component's checks. A failed check fails everything that has passed through the gate, so that
 * nothing is registered; the error is a RunError, which Pulumi prints once and without a stack trace.
 */
export function gateOf(checks: Promise<unknown>): CheckGate {
  const passed = checks.then(() => true, throwExplained);
  return (input) => pulumi.all([input, passed]).apply(([value]) => value) as pulumi.Output<never>;
}

/** Throws an error of this package with its text and fix alone, for a `catch`. */
export function throwExplained(error: unknown): never {
  const explanation = explain(error, commandsFor(operatorStack()));
  if (pulumi.RunError.isInstance(error) || explanation.code === undefined) throw error;
  throw runError(explanationText(explanation), error);
}

/** Creates an error that Pulumi shows as this text alone, without a stack trace. */
export function runError(text: string, cause: unknown): pulumi.RunError {
  const error = new pulumi.RunError(text, { cause });
  // The SDK puts "error serializing property …" before the message of an error for every resource that it fails.
  return Object.defineProperty(error, "message", { get: () => text, set() {} });
}
