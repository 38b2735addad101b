export interface Engine {
  cli: string;
  /** Without a leading v. */
  version: string;
  /** Origin of the CLI. `path`: installed on this machine. `cache` or `built`: built from pinned Go modules. */
  source: "path" | "cache" | "built";
  /** Additional environment variables for running `cli`, such as PATH and PULUMI_HOME. */
  env: Record<string, string>;
  /** True if the official provider is used, false for the rehearsal's own. */
  official: Record<"cloudflare" | "command", boolean>;
  /** Milliseconds spent finding or building the engine. */
  ms: number;
}
