import { readFileSync } from "node:fs";
import path from "node:path";
import type { Deployment, EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { endProcesses } from "../../rehearsal/running.ts";
import { STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";
import type { Data } from "./data.ts";

/** One archived deployment, as its manifest describes it. */
interface ArchivedTarget {
  /** Resources in the state. */
  resources: number;
  data: Data;
}

/** Description of an archive that `npm run archive` writes beside it. */
export interface Manifest {
  version: string;
  stateSchema: number;
  program: string;
  serverless: ArchivedTarget;
  host: ArchivedTarget & {
    names: { container: string; volume: string };
    url: string;
    /** Addresses of the stand-ins. */
    endpoints: Record<string, string>;
  };
}

/** Types of resources that each update replaces. */
export const REPLACED = {
  // A new version of the Worker, and the probe of it.
  serverless: ["cloudflare:index/workerVersion:WorkerVersion", "command:local:Command"],
  // The image, the container, and the steps around its start.
  host: ["command:local:Command", "docker:index/container:Container", "docker:index/remoteImage:RemoteImage"],
} as const;

/** The archived releases, oldest first, with the types that a later version deletes and the changelog's words for it. */
export const RELEASES = [
  {
    release: "before-0.1.0",
    deleted: ["pulumi:providers:pulumi-nodejs"],
    changelog: "A provider `steward` of the package's own resources, in place of dynamic ones",
  },
  { release: "0.1.0", deleted: [], changelog: "" },
] as const;

/**
 * Returns the upgrade matrix as Markdown rows, one for each archive and target. The suites find what it says: the deleted
 * types in each preview, the data after each update, and the way back.
 */
export function upgradeMatrix(): string[] {
  return RELEASES.flatMap(({ release, deleted }) => {
    const { stateSchema } = manifestOf(release);
    const isSame = stateSchema === STATE_SCHEMA;
    const data = isSame ? "kept" : `kept; schema ${stateSchema} becomes ${STATE_SCHEMA}`;
    const what = deleted.length === 0 ? "nothing" : deleted.map((type) => `\`${type}\``).join(", ");
    return ["serverless", "host"].map((target) => {
      const cells = [release.replace("-", " "), VERSION, target, what, data, isSame ? "deploy" : "backup"];
      return `| ${cells.join(" | ")} |`;
    });
  });
}

/** Reads an archive's manifest. */
export function manifestOf(release: string): Manifest {
  const text = readFileSync(path.join(import.meta.dirname, release, "manifest.json"), "utf8");
  return JSON.parse(text) as Manifest;
}

/** Collects the types that a preview or an update replaces or deletes. */
export class Losses {
  readonly #types = new Set<string>();

  /** Sorted types, without those that each update replaces. */
  beyond(usual: readonly string[]): string[] {
    return [...this.#types].filter((type) => !usual.includes(type)).toSorted();
  }

  readonly onEvent = ({ resourcePreEvent: event }: EngineEvent): void => {
    const { op, type = "" } = event?.metadata ?? {};
    if (op !== undefined && /replace|delete/.test(op)) this.#types.add(type);
  };
}

interface Writer {
  version: string;
  formats: Record<"state" | "ledger", number>;
}

interface StateResource {
  urn: string;
  id?: string;
  inputs?: { connection?: { writer?: Writer } };
}

function resourcesIn({ deployment }: Deployment): StateResource[] {
  return (deployment as { resources: StateResource[] }).resources;
}

/** Returns a state as a later version would leave it, with one of the formats that this version writes raised. */
export function ofLaterVersion(state: Deployment, format: keyof Writer["formats"]): Deployment {
  const later = structuredClone(state);
  for (const writer of writersIn(later)) {
    writer.version = "9.9.9";
    writer.formats[format] += 1;
  }
  return later;
}

/** Returns a state as a version from before the formats left it. */
export function withoutWriters(state: Deployment): Deployment {
  const earlier = structuredClone(state);
  for (const { inputs } of resourcesIn(earlier)) delete inputs?.connection?.writer;
  return earlier;
}

/** Returns the version and formats that each of the package's own resources has in a state. */
export function writersIn(state: Deployment): Writer[] {
  return resourcesIn(state).flatMap(({ inputs }) => inputs?.connection?.writer ?? []);
}

/** Returns the id of each resource by its URN. */
export function idsIn(state: Deployment): Record<string, string | undefined> {
  return Object.fromEntries(resourcesIn(state).map(({ urn, id }) => [urn, id]));
}

/** Kills an engine and its plugins, which have this in their environment. */
export function killEngine(mark: string): void {
  endProcesses((pid) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark));
}
