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

/**
 * Texts of every stable error code, by area; every row of the specification's section 7 has a code. Runtime, stacks and
 * CLI read the texts here, except for the fix: it may name commands, so {@link fixOf} returns it.
 */
export const ERRORS: { readonly [Code in keyof Texts]: Omit<Texts[Code], "fix"> } = TEXTS;

/** A stable error code. */
export type ErrorCode = keyof typeof ERRORS;

/** Returns true if the value is an error code of this version. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERRORS, value);
}

/** Remedy of an error. It is a function if it names commands, which are passed in where the fix is printed. */
export type Fix = ErrorText["fix"];

/** Returns the text of a fix. `commands` writes its commands for the stack and launcher at hand. */
export function fixText(fix: Fix, commands: OperatorCommands = UNPLACED): string {
  return typeof fix === "string" ? fix : fix(commands);
}

/** Returns the fix for an error code. `commands` writes its commands for the stack and launcher at hand. */
export function fixOf(code: ErrorCode, commands: OperatorCommands = UNPLACED): string {
  return fixText(TEXTS[code].fix, commands);
}

/** Why something is not as it should be, in a form that is safe to show. */
export interface Reason {
  code: ErrorCode;
  detail: string;
  fix: string;
}

/** Returns the reason for an error code; `detail` defaults to the code's general cause. */
export function reason(code: ErrorCode, detail: string = ERRORS[code].cause): Reason {
  return { code, detail, fix: fixOf(code) };
}

/** An error with a stable code. Its message is safe to show: it never holds a secret. */
export class StewardError extends Error {
  readonly code: ErrorCode;
  /** Default: the code's own fix. Empty if the detail names the fix of each problem. */
  readonly fix: Fix;

  constructor(code: ErrorCode, detail?: string, options?: ErrorOptions & { fix?: Fix }) {
    super(detail ?? ERRORS[code].cause, options);
    this.name = "StewardError";
    this.code = code;
    this.fix = options?.fix ?? TEXTS[code].fix;
  }

  /** This error as a reason. */
  get reason(): Reason {
    return { code: this.code, detail: this.message, fix: fixText(this.fix) };
  }
}
