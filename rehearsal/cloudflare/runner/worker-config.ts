import type { MiniflareOptions } from "miniflare";
import type { BindingRecord } from "../account/state.ts";
import { ownerOf } from "../bindings.ts";
import type { ContainerMode, DeployedClass, DeployedScript } from "../runner.ts";
import { WRAPPER_MODULE, wrapperModules } from "./wrapper.ts";

type WorkerOptions = MiniflareOptions["workers"][number];
type Config = Exclude<WorkerOptions["config"], undefined>;
type ModuleType = NonNullable<Config["manifest"]>["modules"][string]["type"];

// Module types by content type of the upload API: https://developers.cloudflare.com/workers/wrangler/bundling/
const MODULE_TYPES: Record<string, ModuleType> = {
  "application/javascript+module": "esm",
  "text/javascript+module": "esm",
  "application/javascript": "cjs",
  "application/wasm": "wasm",
  "application/octet-stream": "data",
  "application/json": "json",
  "text/plain": "text",
};

export interface WorkerConfigOptions {
  containers: ContainerMode;
  /** URL of the process host, including the access secret. */
  host: string;
  running: readonly string[];
}

/**
 * Returns the Miniflare options of a script. A container class gets workerd's `ctx.container` if containers run in
 * Docker and the class has an image. Any other container class gets a stand-in.
 */
export async function workerConfig(
  script: DeployedScript,
  options: WorkerConfigOptions,
): Promise<WorkerOptions> {
  const { containers, host, running } = options;
  const native = (one: DeployedClass): boolean => containers.kind === "docker" && one.image !== undefined;
  const standIns = script.classes.filter((one) => one.containerEnabled && !native(one));
  const uploaded = Object.fromEntries(
    script.modules.flatMap(({ name, contentType, content }) => {
      const type = MODULE_TYPES[contentType.split(";", 1)[0] ?? ""];
      return type === undefined ? [] : [[name, { type, contents: contentOf(type, content) }] as const];
    }),
  );
  const wrapper =
    standIns.length === 0
      ? {}
      : await wrapperModules({ mainModule: script.mainModule, classes: standIns, host, running });
  const config: Config = {
    name: script.name,
    compatibilityDate: script.compatibilityDate,
    compatibilityFlags: script.compatibilityFlags,
    manifest: {
      mainModule: standIns.length === 0 ? script.mainModule : WRAPPER_MODULE,
      modulesRoot: "/",
      modules: { ...uploaded, ...wrapper },
    },
    env: Object.fromEntries(script.bindings.map((binding) => [binding.name, bindingOf(script, binding)])),
    exports: Object.fromEntries(
      script.classes.map((one) => [one.className, exportOf(one, containers, native(one))]),
    ),
  };
  return { config, dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] } };
}

function exportOf(
  { namespaceId, sqlite, image, containerEnabled }: DeployedClass,
  containers: ContainerMode,
  native: boolean,
): NonNullable<Config["exports"]>[string] {
  return {
    type: "durable-object",
    storage: sqlite ? "sqlite" : "legacy-kv",
    unsafeUniqueKey: namespaceId,
    ...(native &&
      containers.kind === "docker" &&
      image !== undefined && { container: { imageName: containers.image(image) } }),
    // A real container's monitor() prevents the eviction of the object, but the stand-in's pending request does not.
    ...(containerEnabled && !native && { unsafePreventEviction: true }),
  };
}

function bindingOf(script: DeployedScript, binding: BindingRecord): NonNullable<Config["env"]>[string] {
  switch (binding.type) {
    case "plain_text":
    case "secret_text":
      return { type: "text", value: String(binding["text"]) };
    case "json":
      return { type: "json", value: JSON.parse(JSON.stringify(binding["json"])) };
    case "r2_bucket":
      return { type: "r2", name: String(binding["bucket_name"]) };
    case "durable_object_namespace":
      return {
        type: "durable-object",
        worker: ownerOf(script.name, binding),
        exportName: String(binding["class_name"]),
      };
    case "version_metadata":
      return { type: "json", value: { id: script.versionId, tag: "", timestamp: script.versionCreatedOn } };
    // Miniflare writes each message to a file and sends nothing.
    case "send_email":
      return {
        type: "send-email",
        allowedDestinationAddresses: addresses(binding["allowed_destination_addresses"]),
        allowedSenderAddresses: addresses(binding["allowed_sender_addresses"]),
      };
    default:
      throw new Error(`binding ${binding.name} is of the type ${binding.type}, which the upload refuses`);
  }
}

function addresses(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.map(String) : undefined;
}

function contentOf(type: ModuleType, content: Uint8Array): string | Uint8Array<ArrayBuffer> {
  return type === "wasm" || type === "data" ? new Uint8Array(content) : new TextDecoder().decode(content);
}
