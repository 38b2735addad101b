import type { Environment } from "../../contract/environment.ts";
import type { Redactor } from "../../contract/redact.ts";
import type { ProcessSettings } from "../../process/settings.ts";
import type { PairingStores } from "../pairing/stores.ts";
import type { Output } from "./output.ts";

/** What every command works with. */
export interface CommandContext {
  environment: Environment;
  settings: ProcessSettings;
  stores: PairingStores;
  redact: Redactor;
  output: Output;
}

/** The option that every command takes. */
export interface JsonOption {
  json?: boolean;
}
