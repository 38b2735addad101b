import type { Redactor } from "../../contract/redact.ts";
import type { Environment } from "../../contract/variables.ts";
import type { ProcessSettings } from "../../process/settings.ts";
import type { Output } from "./output.ts";

/** What every command works with. */
export interface CommandContext {
  environment: Environment;
  settings: ProcessSettings;
  redact: Redactor;
  output: Output;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** For a command that answered and yet found something wrong. */
  setExitCode(code: number): void;
}

/** The option that every command takes. */
export interface JsonOption {
  json?: boolean;
}
