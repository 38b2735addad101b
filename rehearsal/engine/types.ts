export interface Engine {
  cli: string;
  /** Without a leading v. */
  version: string;
  /** `path`: the CLI installed on this machine. `cache` or `built`: a CLI from pinned Go modules. */
  source: "path" | "cache" | "built";
  /** Additional environment for running `cli`: PATH, PULUMI_HOME and others. */
  env: Record<string, string>;
  /** False if the rehearsal's own provider replaces the official one. */
  official: Record<"cloudflare" | "command", boolean>;
  /** Milliseconds spent finding or building it. */
  ms: number;
}
