import { reason, type ErrorCode } from "../../contract/errors.ts";
import type { Redactor } from "../../contract/redact.ts";
import type { Environment } from "../../contract/variables.ts";
import type { ProcessSettings } from "../../process/settings.ts";

/** What a check came to. */
export interface Finding {
  /** What was looked at. */
  check: string;
  state: "ok" | "warning" | "problem";
  detail: string;
  code?: ErrorCode;
  fix?: string;
}

/** What checks work with. */
export interface DoctorOptions {
  environment: Environment;
  settings: ProcessSettings;
  redact: Redactor;
}

/** Nothing is wrong. */
export function fine(check: string, detail: string): Finding {
  return { check, state: "ok", detail };
}

/** Something is wrong; its code tells the fix. */
export function wrong(
  check: string,
  state: "warning" | "problem",
  code: ErrorCode,
  detail?: string,
): Finding {
  return { check, state, ...reason(code, detail) };
}
