import type { AccessApplicationRecord, AccountState, PolicyRecord } from "../cloudflare/index.ts";

/** An access decision. The refusal page and the log show its reason. */
export interface Decision {
  allowed: boolean;
  reason: string;
}

/**
 * Returns the Access application with the most specific destination for a host and path:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/policies/app-paths/
 */
export function applicationFor(
  state: Readonly<AccountState>,
  hostname: string,
  path: string,
): AccessApplicationRecord | undefined {
  const plain = normalised(path);
  const matches = state.accessApplications.flatMap((application) => {
    return application.destinations
      .filter(({ uri }) => destinationMatches(uri, hostname, plain))
      .map(({ uri }) => ({ application, specific: specificity(uri) }));
  });
  return matches.toSorted((left, right) => right.specific - left.specific)[0]?.application;
}

/**
 * Returns true if everyone may pass without an identity. Bypass policies precede all others:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/policies/#order-of-execution
 */
export function isBypassed(state: Readonly<AccountState>, application: AccessApplicationRecord): boolean {
  return policiesOf(state, application).some((policy) => {
    return policy.decision === "bypass" && applies(policy, undefined);
  });
}

/** Applies the first Allow or Block policy that matches the person; refuses if none matches. */
export function decide(
  state: Readonly<AccountState>,
  application: AccessApplicationRecord,
  email: string,
): Decision {
  const policy = policiesOf(state, application).find((one) => {
    return one.decision !== "bypass" && applies(one, email);
  });
  if (policy === undefined)
    return { allowed: false, reason: `no policy of ${application.name} names ${email}` };
  return { allowed: policy.decision === "allow", reason: `policy ${policy.name} of ${application.name}` };
}

function policiesOf(state: Readonly<AccountState>, application: AccessApplicationRecord): PolicyRecord[] {
  return application.policies
    .toSorted((left, right) => left.precedence - right.precedence)
    .flatMap(({ id }) => state.policies.find((policy) => policy.id === id) ?? []);
}

/**
 * Returns true if a person matches at least one of a policy's Include rules, all Require rules and no Exclude rule.
 */
function applies(policy: PolicyRecord, email: string | undefined): boolean {
  const matches = (name: string): boolean[] => {
    const rules = policy.body[name];
    return Array.isArray(rules) ? rules.map((rule: AccessRule) => ruleMatches(rule, email)) : [];
  };
  return (
    matches("include").includes(true) &&
    !matches("exclude").includes(true) &&
    !matches("require").includes(false)
  );
}

interface AccessRule {
  everyone?: object;
  email?: { email: string };
  email_domain?: { domain: string };
}

function ruleMatches(rule: AccessRule, email: string | undefined): boolean {
  if (rule.everyone !== undefined) return true;
  if (rule.email !== undefined) return same(rule.email.email, email);
  return same(rule.email_domain?.domain, email?.split("@").at(-1));
}

function same(left: string | undefined, right: string | undefined): boolean {
  return left !== undefined && right !== undefined && left.toLowerCase() === right.toLowerCase();
}

/**
 * Returns true if a destination such as `host` or `host/path` covers a request, including subpaths. `*` in a host
 * matches within one label; a final `*` in a path matches everything.
 */
function destinationMatches(uri: string, hostname: string, path: string): boolean {
  const [host = "", ...rest] = uri.replace(/^https?:\/\//, "").split("/");
  if (!pattern(host, "[^.]*").test(hostname)) return false;
  const wanted = `/${rest.join("/")}`;
  if (wanted === "/") return true;
  if (wanted.endsWith("*")) return pattern(`${wanted.slice(0, -1)}\0`, "[^/]*").test(path);
  return pattern(wanted.replace(/\/$/, ""), "[^/]*").test(path) || below(wanted, path);
}

function below(wanted: string, path: string): boolean {
  return pattern(`${wanted.replace(/\/$/, "")}/\0`, "[^/]*").test(path);
}

/**
 * Converts a wildcard pattern to a regular expression. `*` becomes `inside`. A NUL stands for any text and becomes
 * `.*`.
 */
function pattern(text: string, inside: string): RegExp {
  const source = text
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", inside)
    .replaceAll("\0", ".*");
  return new RegExp(`^${source}$`, "i");
}

/** Returns a destination's rank: twice its number of literal characters, plus 1 if it has no wildcard. */
function specificity(uri: string): number {
  return uri.replaceAll("*", "").length * 2 + (uri.includes("*") ? 0 : 1);
}

/**
 * Decodes a path and merges repeated slashes, so that no encoding bypasses a path rule:
 * https://developers.cloudflare.com/rules/normalization/
 */
function normalised(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/\/{2,}/g, "/");
  } catch {
    return path;
  }
}
