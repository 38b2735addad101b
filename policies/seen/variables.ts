import type { ResourceValidationArgs } from "@pulumi/policy";

/** A variable that a resource hands to the runtime. */
export interface HandedVariable {
  name: string;
  value: string;
  /** Whether nobody can read it: not in the cloud's own pages, and not in the stack's state. */
  hidden: boolean;
}

/** The resources that hand variables to the runtime: a Worker's version, and a Docker container. */
export function handedVariables({ type, props, opts }: Resource): HandedVariable[] {
  if (type === "cloudflare:index/workerVersion:WorkerVersion")
    return list(props["bindings"]).flatMap(binding);
  if (type !== "docker:index/container:Container") return [];
  const hidden = opts.additionalSecretOutputs.includes("envs");
  return list(props["envs"]).flatMap((entry) => environmentEntry(entry, hidden));
}

/** What the rules look at. */
export type Resource = Pick<ResourceValidationArgs, "type" | "props"> & {
  opts: Pick<ResourceValidationArgs["opts"], "additionalSecretOutputs">;
};

function binding(value: unknown): HandedVariable[] {
  if (typeof value !== "object" || value === null || !("name" in value) || !("type" in value)) return [];
  const { name, type } = value;
  if (typeof name !== "string" || (type !== "plain_text" && type !== "secret_text")) return [];
  const text = "text" in value && typeof value.text === "string" ? value.text : "";
  return [{ name, value: text, hidden: type === "secret_text" }];
}

function environmentEntry(entry: unknown, hidden: boolean): HandedVariable[] {
  if (typeof entry !== "string") return [];
  const [name = "", ...rest] = entry.split("=");
  return [{ name, value: rest.join("="), hidden }];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
