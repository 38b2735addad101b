import { ACCESS_ERRORS } from "./error-texts/access.ts";
import { CHANNELS_ERRORS } from "./error-texts/channels.ts";
import { DEPLOYMENT_ERRORS } from "./error-texts/deployment.ts";
import { GATEWAY_ERRORS } from "./error-texts/gateway.ts";
import { MODELS_ERRORS } from "./error-texts/models.ts";
import { PEOPLE_ERRORS } from "./error-texts/people.ts";
import { REQUESTS_ERRORS } from "./error-texts/requests.ts";
import { STATE_ERRORS } from "./error-texts/state.ts";

/**
 * Every stable error code, by area; every row of the specification's section 7 has one. Runtime, stacks
 * and CLI read their texts here.
 */
export const ERRORS = {
  ...DEPLOYMENT_ERRORS,
  ...ACCESS_ERRORS,
  ...GATEWAY_ERRORS,
  ...MODELS_ERRORS,
  ...CHANNELS_ERRORS,
  ...REQUESTS_ERRORS,
  ...STATE_ERRORS,
  ...PEOPLE_ERRORS,
} as const;

/** A stable error code. */
export type ErrorCode = keyof typeof ERRORS;

/** Why something is not as it should be, in a form that is safe to show. */
export interface Reason {
  code: ErrorCode;
  detail: string;
  fix: string;
}

/** The reason of a code; `detail` defaults to the code's general cause. */
export function reason(code: ErrorCode, detail: string = ERRORS[code].cause): Reason {
  return { code, detail, fix: ERRORS[code].fix };
}

/** An error with a stable code. Its message is safe to show: it never holds a secret. */
export class StewardError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, detail?: string, options?: ErrorOptions) {
    super(detail ?? ERRORS[code].cause, options);
    this.name = "StewardError";
    this.code = code;
  }

  /** This error as a reason. */
  get reason(): Reason {
    return reason(this.code, this.message);
  }
}
