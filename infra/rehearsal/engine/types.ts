import type { ProviderName } from "./plugins.ts";

/** A Pulumi engine that is ready to run a program of this checkout. */
export interface Engine {
  /** Path of the `pulumi` executable. */
  cli: string;
  /** Its version, without a leading v. */
  version: string;
  /** `path`: the official CLI of this machine. `cache`, `built`: the project's own, from its pinned Go modules. */
  source: "path" | "cache" | "built";
  /** What whoever runs `cli` has to give it beside the ordinary environment: PATH, PULUMI_HOME and the like. */
  env: Record<string, string>;
  /** Which official provider plugins the engine finds by itself. The others have to be attached to it. */
  official: Record<ProviderName, boolean>;
  /** Milliseconds that finding or building it took. */
  ms: number;
}
