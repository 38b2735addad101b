import { fixText, isErrorCode, StewardError } from "../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { type EngineError, errorsOf } from "./diagnostics.ts";
import { BuildFailure, causeOf } from "./failure.ts";
import { PLUGIN_ENTRY } from "./package.ts";

/** Explanation of an error for users; contains no secrets. */
export interface Explanation {
  /** Stable, searchable error code; `undefined` for an unexpected error. */
  code: string | undefined;
  cause: string;
  /** Advice on fixing the error; `undefined` if the error is unexpected or `cause` already contains advice. */
  fix: string | undefined;
}

/** Explains an error to the user. The fix contains complete commands, which `commands` builds. */
export function explain(error: unknown, commands: OperatorCommands): Explanation {
  const known = knownError(error);
  if (known === undefined) return { code: undefined, cause: withoutAnswers(causeOf(error)), fix: undefined };
  const cause = known instanceof BuildFailure ? known.reason : known.message;
  return { code: known.code, cause, fix: fixText(known.fix, commands) || undefined };
}

/** Formats an explanation: cause and code, then the fix on a separate line. */
export function explanationText({ code, cause, fix }: Explanation): string {
  const isNamed = code === undefined || cause.includes(`(${code})`);
  const known = isNamed ? cause : `${cause.replace(/\.$/, "")} (${code})`;
  return fix === undefined ? known : `${known}\n  fix: ${fix}`;
}

/**
 * Returns the first error in the chain of causes that has a code. If there is none, returns an error recognized from
 * the message text, or `undefined`.
 */
function knownError(error: unknown): StewardError | BuildFailure | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof StewardError || one instanceof BuildFailure) return one;
    const refused = "status" in one ? refusal(Number(one.status), one.message) : undefined;
    if (refused !== undefined) return refused;
  }
  const cause = causeOf(error);
  const errors = errorsOf(cause);
  if (errors.length === 0) return engineError(cause);
  return (
    explainedError(errors) ??
    engineError(errors.map(({ resource, text }) => `${resource}: ${text}`).join("\n"))
  );
}

const CODE = /\(([a-z]+(?:_[a-z]+)+)\)/;

/** Combines the engine's errors into one if their text contains a code that the program or a provider added. */
function explainedError(errors: readonly EngineError[]): BuildFailure | undefined {
  const text = errors.map((error) => error.text).join("\n");
  const [, code] = CODE.exec(text) ?? [];
  const fixes = text.match(/^ *fix: /gm) ?? [];
  // A word in parentheses is an error code only if it is known or the text contains a fix.
  if (code === undefined || !(fixes.length > 0 || isErrorCode(code))) return undefined;
  // Split cause and fix only if there is one error with one fix.
  if (errors.length > 1 || fixes.length !== 1) return new BuildFailure(code, text, "");
  const [cause = "", fix = ""] = text.split(/\n *fix: /);
  return new BuildFailure(code, cause.replace(new RegExp(` \\(${code}\\)$`), ""), fix);
}

/** An error in Cloudflare's response: https://developers.cloudflare.com/api/ */
interface CloudflareError {
  code?: number;
  message?: string;
}

function refusal(status: number, detail: string): StewardError | undefined {
  if (!(status >= 400)) return undefined;
  if (status === 401 || status === 403) {
    return new StewardError("token_permission_missing", detail, { fix: permissionFix });
  }
  if (status === 429 || status >= 500) return new StewardError("cloudflare_unavailable", detail);
  return new StewardError("cloudflare_refused", detail);
}

/** Returns one fix for an invalid token and a missing permission, which Cloudflare does not distinguish. */
function permissionFix({ configSet }: OperatorCommands): string {
  const set = configSet("cloudflare:apiToken", "<token>", { secret: true });
  return `Give the token the permissions that the README lists, or \`${set}\`, with a valid token of the account that steward:accountId names.`;
}

function wordsOf({ code, message = "" }: CloudflareError): string {
  return code === undefined ? message : `${message} (${code})`;
}

const ANSWER = /(\b[45]\d\d)?(?: [A-Z][\w ]*)?,? *(\{"(?:success|result|errors|messages)":.*\})/g;
/** Matches a rejection without a response body, as official providers print it. */
const BARE_REFUSAL = /\b(401|403) (?:Unauthorized|Forbidden)\b/;
const LOCKED = /the stack is currently locked by \d+ lock\(s\)/;
const PLUGIN =
  /no resource plugin '(?:pulumi-resource-)?(\w+)(?:-v?([\d.]+))?' found(?: in the workspace at version v?(\d[\w.+-]*))?/;

/** Matches the engine's errors for a Pulumi.yaml without an entry for this package's provider. */
const OWN_PLUGIN = /no resource plugin '(?:pulumi-resource-)?steward'|latest version for provider steward\b/;

/** Recognizes known errors in the output of Pulumi's engine and official providers. */
function engineError(text: string): StewardError | BuildFailure | undefined {
  if (LOCKED.test(text)) return new StewardError("rollout_under_way", lockText(text));
  if (OWN_PLUGIN.test(text)) return unlistedPlugin();
  const plugin = PLUGIN.exec(text);
  if (plugin !== null) {
    const [, name = "", one, other] = plugin;
    return missingPlugin(name, other ?? one);
  }
  const [, answered] = new RegExp(ANSWER.source).exec(text) ?? [];
  const status = answered ?? BARE_REFUSAL.exec(text)?.[1];
  return status === undefined ? undefined : refusal(Number(status), withoutAnswers(text));
}

/** Returns a sentence about the stack's lock, with its holder and time if known. */
function lockText(text: string): string {
  const [held] = /created by .*$/m.exec(text) ?? [];
  return `The stack is locked${held === undefined ? "" : `, ${held.trim()}`}.`;
}

/** Returns the error for a missing plugin. The engine does not always report the version. */
export function missingPlugin(name: string, version: string | undefined, why?: string): BuildFailure {
  const words = version === undefined ? [name] : [name, version];
  return new BuildFailure(
    "pulumi_plugin_missing",
    `the Pulumi plugin ${words.join(" ")} is not installed${why === undefined ? "" : `: ${why}`}`,
    ({ cli }) =>
      `Run \`${cli("plugin", "install", "resource", ...words)}\` once on a network that can reach its download.`,
  );
}

export function unlistedPlugin(): BuildFailure {
  return new BuildFailure(
    "pulumi_plugin_unlisted",
    "Pulumi does not find the provider steward, because Pulumi.yaml does not say where it is",
    `Add this line to Pulumi.yaml: \`${PLUGIN_ENTRY}\``,
  );
}

/** Shortens each Cloudflare JSON response in `text` to its HTTP status and error messages. */
function withoutAnswers(text: string): string {
  return text.replaceAll(ANSWER, (whole: string, status: string | undefined, body: string) => {
    const { errors } = (parseJson(body) ?? {}) as { errors?: CloudflareError[] };
    if (!Array.isArray(errors)) return whole;
    return [status, errors.map(wordsOf).join("; ")].filter(Boolean).join(": ");
  });
}
