import { ACCESS_ERRORS } from "./error-texts/access.ts";
import { CHANNELS_ERRORS } from "./error-texts/channels.ts";
import { DEPLOYMENT_ERRORS } from "./error-texts/deployment.ts";
import type { ErrorText } from "./error-texts/error-text.ts";
import { GATEWAY_ERRORS } from "./error-texts/gateway.ts";
import { MODELS_ERRORS } from "./error-texts/models.ts";
import { PEOPLE_ERRORS } from "./error-texts/people.ts";
import { REQUESTS_ERRORS } from "./error-texts/requests.ts";
import { STATE_ERRORS } from "./error-texts/state.ts";
import { type OperatorCommands, UNPLACED } from "./operator-commands.ts";

const TEXTS = {
  ...DEPLOYMENT_ERRORS,
  ...ACCESS_ERRORS,
  ...GATEWAY_ERRORS,
  ...MODELS_ERRORS,
  ...CHANNELS_ERRORS,
  ...REQUESTS_ERRORS,
  ...STATE_ERRORS,
  ...PEOPLE_ERRORS,
} as const;

type Texts = typeof TEXTS;

/** Texts of every stable error code (specification, section 7). {@link fixOf} returns the fixes. */
export const ERRORS: { readonly [Code in keyof Texts]: Omit<Texts[Code], "fix"> } = TEXTS;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERRORS, value);
}

/** Instructions for fixing an error; a function if they contain commands. */
export type Fix = ErrorText["fix"];

/**
 * Returns the text of a fix.
 *
 * @param commands Formats the text's commands for one stack and installation.
 */
export function fixText(fix: Fix, commands: OperatorCommands = UNPLACED): string {
  return typeof fix === "string" ? fix : fix(commands);
}

export function fixOf(code: ErrorCode, commands: OperatorCommands = UNPLACED): string {
  return fixText(TEXTS[code].fix, commands);
}

/** Explains a failure. Contains no secrets. */
export interface Reason {
  code: ErrorCode;
  detail: string;
  fix: string;
}

export function reason(code: ErrorCode, detail: string = ERRORS[code].cause): Reason {
  return { code, detail, fix: fixOf(code) };
}

/** An error with a stable code. Its message never contains a secret. */
export class StewardError extends Error {
  readonly code: ErrorCode;
  /** Default: the error code's fix. Empty if the message already has a fix for each problem. */
  readonly fix: Fix;

  constructor(code: ErrorCode, detail?: string, options?: ErrorOptions & { fix?: Fix }) {
    super(detail ?? ERRORS[code].cause, options);
    this.name = "StewardError";
    this.code = code;
    this.fix = options?.fix ?? TEXTS[code].fix;
  }

  get reason(): Reason {
    return { code: this.code, detail: this.message, fix: fixText(this.fix) };
  }
}
