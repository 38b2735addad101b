export interface Engine {
  cli: string;
  /** Without a leading v. */
  version: string;
  /**
   * Origin of the CLI: installed on this machine (`path`), or built from pinned Go modules, earlier (`cache`) or now
   * (`built`).
   */
  source: "path" | "cache" | "built";
  /** Additional environment variables for running `cli`, such as PATH and PULUMI_HOME. */
  env: Record<string, string>;
  /** True for the official provider, false for the rehearsal's. */
  official: Record<"cloudflare" | "command", boolean>;
  /** Milliseconds spent finding or building the engine. */
  ms: number;
}
