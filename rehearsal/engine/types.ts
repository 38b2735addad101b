/** A Pulumi engine that is ready to run a program of this checkout. */
export interface Engine {
  /** Path of the `pulumi` executable. */
  cli: string;
  /** Its version, without a leading v. */
  version: string;
  /** `path`: the CLI that is installed on this machine. `cache`, `built`: one from its pinned Go modules. */
  source: "path" | "cache" | "built";
  /** Environment that callers of `cli` must set beside the ordinary one: PATH, PULUMI_HOME and the like. */
  env: Record<string, string>;
  /** Which official plugins it uses; the rehearsal's own provider takes the place of another. */
  official: Record<"cloudflare" | "command", boolean>;
  /** Milliseconds that finding or building it took. */
  ms: number;
}
