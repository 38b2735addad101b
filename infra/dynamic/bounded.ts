import type { dynamic } from "@pulumi/pulumi";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { explain, explanationText } from "../shell/explain.ts";
import { commandsFor } from "../shell/package.ts";

/** Input that carries the stack's name for messages. It is removed from the inputs here, so no state contains it. */
export const STACK_INPUT = "__stack";

let stack: string | undefined;

/** Returns the commands that a provider prints. A destroy does not name the stack, so they have its placeholder then. */
function providerCommands(): OperatorCommands {
  return commandsFor(stack);
}

/** Returns a provider whose errors say what is wrong and what to type, without a stack trace. */
export function bounded(provider: dynamic.ResourceProvider): dynamic.ResourceProvider {
  const { check, diff, create, read, update, delete: remove } = provider;
  return {
    ...provider,
    async check(olds: object, { [STACK_INPUT]: named, ...news }: Record<string, unknown>) {
      if (typeof named === "string") stack = named;
      if (check === undefined) return { inputs: news };
      return check(olds, news).catch((error: unknown) => failed(news, error));
    },
    ...(diff && { diff: (id, olds, news) => explained(() => diff(id, olds, news)) }),
    create: (inputs) => explained(() => create(inputs)),
    ...(read && { read: (id, props) => explained(() => read(id, props)) }),
    ...(update && { update: (id, olds, news) => explained(() => update(id, olds, news)) }),
    ...(remove && { delete: (id, props) => explained(() => remove(id, props)) }),
  };
}

/**
 * Runs a provider's check. What it throws is reported as one failure without a property: the engine shows its text
 * alone, without a stack trace and without the resource's values.
 */
export async function checked<Inputs>(
  inputs: Inputs,
  check: () => Promise<void>,
): Promise<dynamic.CheckResult<Inputs>> {
  return check().then(
    () => ({ inputs }),
    (error: unknown) => failed(inputs, error),
  );
}

function failed<Inputs>(inputs: Inputs, error: unknown): dynamic.CheckResult<Inputs> {
  const reason = explanationText(explain(error, providerCommands()));
  return { inputs, failures: [{ property: "", reason }] };
}

/**
 * Pulumi prints a thrown error and its stack trace beside the message that the engine shows. A known error prints this
 * line instead.
 */
const UNTRACED = { toString: () => "A resource failed", stack: "its error is among the diagnostics" };

async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const explanation = explain(error, providerCommands());
    const text = explanationText(explanation);
    const untraced = explanation.code === undefined ? {} : UNTRACED;
    throw Object.assign(new Error(text, { cause: error }), untraced, incompleteCreation(error, text));
  }
}

/** Returns the error properties that make the engine record a resource as created but incomplete. */
function incompleteCreation(error: unknown, text: string): object {
  if (!(error instanceof Error) || !("id" in error) || !("properties" in error)) return {};
  return { id: error.id, properties: error.properties, reasons: [text] };
}
