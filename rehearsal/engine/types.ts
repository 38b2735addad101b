export interface Engine {
  cli: string;
  /** Without a leading v. */
  version: string;
  /**
   * Origin of the CLI: installed on this machine (`path`), built earlier from pinned Go modules (`cache`), or built
   * from them now (`built`).
   */
  source: "path" | "cache" | "built";
  /** Additional environment variables for running `cli`, such as PATH and PULUMI_HOME. */
  env: Record<string, string>;
  /** True for the official provider, false for the rehearsal's. */
  official: Record<"cloudflare" | "command", boolean>;
  /** Milliseconds spent finding or building the engine. */
  ms: number;
}
