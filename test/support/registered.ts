import { RESOURCES } from "../../infra/provider/resources.ts";
import * as pulumi from "@pulumi/pulumi";
import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import type { ConfigMap, PulumiFn } from "@pulumi/pulumi/automation/index.js";

/**
 * Resource with "[secret]" in place of a secret, and "[unknown]" in place of a value that a preview does not know.
 */
export interface RegisteredResource {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
  dependsOn: string[];
  protect: boolean;
  replaceOnChanges: string[];
  deleteBeforeReplace: boolean;
}

interface Registration {
  config?: ConfigMap;
  /** Default: test. */
  stack?: string;
  /** Receives the resources, even if the program fails. */
  found?: RegisteredResource[];
}

/**
 * Runs a program with Pulumi's mocks, as in the preview of a new stack. Not modelled: the providers' checks, and
 * existing state.
 */
export async function registered(
  program: PulumiFn,
  { config = {}, stack = "test", found = [] }: Registration = {},
): Promise<RegisteredResource[]> {
  const keys = Object.keys(config);
  const values = Object.fromEntries(keys.map((key) => [key, config[key]?.value ?? ""]));
  pulumi.runtime.setAllConfig(
    values,
    keys.filter((key) => config[key]?.secret === true),
  );
  // Without outputs, all values that a provider computes are unknown, as in a preview.
  const mocks: pulumi.runtime.Mocks = {
    newResource: ({ inputs }) => ({ id: undefined, state: inputs }),
    call: ({ inputs }) => inputs,
  };
  await pulumi.runtime.setMocks(mocks, "steward", stack, true);
  // The mocks' monitor has other signatures than the declared one.
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, answer) => {
    if (!request.getType().startsWith("pulumi:")) found.push(describe(request));
    return register(request, answer);
  };
  // The mocks claim to support resource hooks but lack this method.
  monitor.registerResourceHook = (_request, answer) => answer(null, {});
  await withoutLostErrors(async () => {
    await program();
    await (pulumi.runtime as unknown as Settling).waitForRPCs();
  });
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Throws the first unhandled rejection, as Pulumi's language host does. */
async function withoutLostErrors(run: () => Promise<void>): Promise<void> {
  const lost: unknown[] = [];
  const listeners = process.rawListeners("unhandledRejection") as NodeJS.UnhandledRejectionListener[];
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => lost.push(error));
  try {
    await run();
    // Node reports unhandled rejections only after all pending promise callbacks have run.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  }
  if (lost.length > 0) throw lost[0];
}

/** Function that Pulumi exports but omits from its types. */
interface Settling {
  waitForRPCs(): Promise<void>;
}

interface Monitor {
  registerResource(request: RegisterResourceRequest, answer: unknown): Promise<void>;
  registerResourceHook(request: unknown, answer: (error: null, response: object) => void): void;
}

function describe(request: RegisterResourceRequest): RegisteredResource {
  return {
    type: request.getType(),
    name: request.getName(),
    inputs: plain(request.getObject()?.toJavaScript() ?? {}),
    dependsOn: request.getDependenciesList().map((urn) => urn.split("::").slice(3).join("::")),
    protect: request.getProtect() === true,
    replaceOnChanges: request.getReplaceonchangesList(),
    deleteBeforeReplace: request.getDeletebeforereplace(),
  };
}

export function isManaged({ type }: Pick<RegisteredResource, "type">): boolean {
  return !type.startsWith("steward:") || Object.hasOwn(RESOURCES, type.replace("steward:", ""));
}

/** Pulumi's marks for an unknown value and a secret (pulumi sdk/nodejs/runtime/rpc.ts). */
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const SIGNATURE = "4dabf18193072939515e22adb298388d";

function plain(inputs: object): Record<string, unknown> {
  const given = Object.entries(inputs).filter(([name]) => !name.startsWith("__"));
  return Object.fromEntries(given.map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (value === UNKNOWN) return "[unknown]";
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return SIGNATURE in value ? "[secret]" : plain(value);
}

function key({ type, name }: RegisteredResource): string {
  return `${type} ${name}`;
}
