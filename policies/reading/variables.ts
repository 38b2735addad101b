import { VARIABLES, type VariableName } from "../../runtime/contract/environment.ts";
import { looksLikeSecretName } from "../../runtime/shared/redact.ts";
import { isOfType, type Resource, TYPES } from "./resource.ts";
import { type Declared, fields, equals, list, text } from "./values.ts";

/** A variable that a resource hands to the runtime. */
export interface HandedVariable {
  name: string;
  /** `undefined` where the preview does not know it. */
  value: string | undefined;
  /** True if it is unreadable: in the cloud's own pages, and in the stack's state. */
  hidden: boolean;
}

/** Resources that hand variables to the runtime: a Worker's version, and a Docker container. */
export const HANDING = [TYPES.workerVersion, TYPES.container] as const;

/** The variables that one of the {@link HANDING} types hands over. */
export function handedVariables(resource: Resource): HandedVariable[] {
  if (isOfType(resource, TYPES.workerVersion)) return list(resource.props.bindings).flatMap(binding);
  if (!isOfType(resource, TYPES.container)) return [];
  const hidden = resource.opts.additionalSecretOutputs.includes("envs");
  return list(resource.props.envs).flatMap((entry) => environmentEntry(entry, hidden));
}

/** The values of a variable in all resources; `undefined` for one that the preview does not know. */
export function valuesOf(name: string, resources: readonly Resource[]): (string | undefined)[] {
  return resources.flatMap(handedVariables).flatMap((variable) => {
    return variable.name === name && variable.value !== "" ? [variable.value] : [];
  });
}

/** Tells whether a variable of this name is a secret; of one that the runtime does not know, the name decides. */
export function isSecretName(name: string): boolean {
  return Object.hasOwn(VARIABLES, name) ? VARIABLES[name as VariableName].secret : looksLikeSecretName(name);
}

function binding(value: Declared<{ name: string; type: string; text?: string }>): HandedVariable[] {
  const { name, type, text: content } = fields(value);
  if (typeof name !== "string" || (!equals(type, "plain_text") && !equals(type, "secret_text"))) return [];
  // Absent is empty, unknown is not.
  return [{ name, value: content === undefined ? "" : text(content), hidden: equals(type, "secret_text") }];
}

function environmentEntry(entry: unknown, hidden: boolean): HandedVariable[] {
  if (typeof entry !== "string") return [];
  const [name = "", ...rest] = entry.split("=");
  return [{ name, value: rest.join("="), hidden }];
}
