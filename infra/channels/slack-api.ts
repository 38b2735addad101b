import { ERRORS } from "../../runtime/contract/errors.ts";
import { slackRoot } from "./endpoints.ts";
import { askPlatform, fieldsOf, knownError } from "./platform-call.ts";

/** An app, and what may change it. */
export interface SlackAppAccess {
  /** As its page shows it: A, then letters and digits. */
  appId: string;
  /** An app configuration token, good for twelve hours: https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests#config-tokens */
  configToken: string;
}

/** What Slack said; `refused` where it does not take the token. */
export type SlackAnswer = { refused: true } | { refused: false; body: Record<string, unknown> };

const INVALID = { code: "slack_config_token_invalid", ...ERRORS.slack_config_token_invalid };
const REFUSED = { code: "registration_refused", ...ERRORS.registration_refused };
const UNREACHABLE = { code: "registration_unreachable", ...ERRORS.registration_unreachable };
const TOKEN_ERRORS = ["not_authed", "invalid_auth", "token_expired", "token_revoked", "account_inactive"];

/** Calls a method of the App Manifest API: https://docs.slack.dev/reference/methods#apps.manifest */
export async function askSlack(
  { appId, configToken }: SlackAppAccess,
  method: string,
  parameters: object = {},
): Promise<SlackAnswer> {
  const headers = { authorization: `Bearer ${configToken}` };
  const body = { app_id: appId, ...parameters };
  const answer = await askPlatform("POST", `${slackRoot()}/${method}`, headers, body);
  if (answer.status === 0 || answer.status >= 500) {
    throw knownError(UNREACHABLE, `Slack did not answer ${method}`);
  }
  const fields = fieldsOf(answer.body);
  if (fields["ok"] === true) return { refused: false, body: fields };
  const error = String(fields["error"] ?? answer.status);
  if (TOKEN_ERRORS.includes(error)) return { refused: true };
  throw knownError(REFUSED, `Slack does not take ${method}: ${[error, ...problemsOf(fields)].join("; ")}`);
}

/** As {@link askSlack}; a token that Slack does not take is an error. */
export async function callSlack(
  access: SlackAppAccess,
  method: string,
  parameters: object = {},
): Promise<Record<string, unknown>> {
  const answer = await askSlack(access, method, parameters);
  if (answer.refused) throw knownError(INVALID, "Slack refuses the app configuration token");
  return answer.body;
}

/** What is wrong with a manifest, each with the place in it. */
function problemsOf({ errors }: Record<string, unknown>): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const { pointer = "", message = "" } = fieldsOf(error);
    return `${String(pointer)} ${String(message)}`.trim();
  });
}
