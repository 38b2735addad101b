import { VARIABLES, type VariableName } from "../../runtime/contract/environment.ts";
import { looksLikeSecretName } from "../../runtime/shared/redact.ts";
import { isOfType, type Resource, TYPES } from "./resource.ts";
import { type Declared, fields, equals, list, text } from "./values.ts";

export interface HandedVariable {
  name: string;
  /** `undefined` if a preview does not know the value. */
  value: string | undefined;
  /** True if neither the cloud's dashboard nor the stack's state shows the value. */
  hidden: boolean;
}

/** Types of resources that pass variables to the Worker or container. */
export const HANDING = [TYPES.workerVersion, TYPES.container] as const;

export function handedVariables(resource: Resource): HandedVariable[] {
  if (isOfType(resource, TYPES.workerVersion)) return list(resource.props.bindings).flatMap(binding);
  if (!isOfType(resource, TYPES.container)) return [];
  const hidden = resource.opts.additionalSecretOutputs.includes("envs");
  return list(resource.props.envs).flatMap((entry) => environmentEntry(entry, hidden));
}

/** Returns a variable's non-empty values, with `undefined` for a value that a preview does not know. */
export function valuesOf(name: string, resources: readonly Resource[]): (string | undefined)[] {
  return resources.flatMap(handedVariables).flatMap((variable) => {
    return variable.name === name && variable.value !== "" ? [variable.value] : [];
  });
}

/** Returns true if the variable is secret. Guesses from the name if the contract does not list the variable. */
export function isSecretName(name: string): boolean {
  return Object.hasOwn(VARIABLES, name) ? VARIABLES[name as VariableName].secret : looksLikeSecretName(name);
}

function binding(value: Declared<{ name: string; type: string; text?: string }>): HandedVariable[] {
  const { name, type, text: content } = fields(value);
  if (typeof name !== "string" || (!equals(type, "plain_text") && !equals(type, "secret_text"))) return [];
  // Without `content`, the value is empty. If a preview does not know `content` yet, `text` returns `undefined`.
  return [{ name, value: content === undefined ? "" : text(content), hidden: equals(type, "secret_text") }];
}

function environmentEntry(entry: unknown, hidden: boolean): HandedVariable[] {
  if (typeof entry !== "string") return [];
  const [name = "", ...rest] = entry.split("=");
  return [{ name, value: rest.join("="), hidden }];
}
