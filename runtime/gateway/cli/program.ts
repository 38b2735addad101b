import type { OperationRequest } from "../../contract/control.ts";
import { optionNames } from "../../operations/form.ts";
import { withoutUndo } from "../../operations/operation.ts";
import { readRequest, TERMINAL_GROUPS } from "../../operations/registry.ts";
import { replyOf } from "../../operations/reply.ts";
import { readCommandLine } from "../../operations/words.ts";
import { parseJson } from "../../shared/json.ts";
import type { Place } from "./completion.ts";
import type { CommandContext } from "./context.ts";
import { commandTools } from "./tools.ts";

/**
 * Runs a command line.
 *
 * @throws StewardError `usage_invalid` for an invalid command line, and the operation's errors.
 */
export async function runCommandLine(context: CommandContext, args: readonly string[]): Promise<void> {
  const { output, setExitCode } = context;
  const line = readCommandLine(args, "terminal");
  if ("help" in line) return output.text(`${line.help}\n`);
  const { operation, input, json } = line;
  const value = await operation.run(commandTools(context, completedPlaces), input);
  const text = json ? "" : operation.text(value, input);
  for (const warning of json ? [] : (operation.warnings?.(value) ?? [])) output.warn(warning);
  if (operation.verbatim && !json) output.file(text);
  else output.answer(json, withoutUndo(value), text);
  if (operation.failed?.(value)) setExitCode(1);
}

/** Validates and runs an {@link OperationRequest}, and writes its reply as JSON. */
export async function runRequest(context: CommandContext, text: string): Promise<void> {
  const reply = await replyOf(async () => {
    const request = (parseJson(text) ?? {}) as Partial<OperationRequest>;
    const { operation, input } = readRequest(request.operation, request.input);
    return operation.run(commandTools(context, completedPlaces), input);
  });
  context.output.text(JSON.stringify(reply));
}

function completedPlaces(): Place[] {
  const places: Place[] = [["", [...TERMINAL_GROUPS.map(({ name }) => name), "--version", "--help"]]];
  for (const { name, operations } of TERMINAL_GROUPS) {
    const verbs = operations.flatMap((one) => one.name.split(" ")[1] ?? []);
    if (verbs.length > 0) places.push([name, [...verbs, "--help"]]);
    for (const one of operations) places.push([one.name, [...optionNames(one), "--help"]]);
  }
  return places;
}
