import type { AccessApplicationRecord, AccountState, PolicyRecord } from "../cloudflare/index.ts";

/** A decision with its cause, which the refusal's page and the log show. */
export interface Decision {
  allowed: boolean;
  reason: string;
}

/**
 * The application that guards a path of a host: the one with the most specific destination, and only that one.
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
 * Whether a policy opens the application to everyone without an identity. Bypass comes before all other policies:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/policies/#order-of-execution
 */
export function isBypassed(state: Readonly<AccountState>, application: AccessApplicationRecord): boolean {
  return policiesOf(state, application).some((policy) => {
    return policy.decision === "bypass" && applies(policy, undefined);
  });
}

/** Whether somebody may in: the first Allow or Block policy that applies decides, in their order; none refuses. */
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

/** Include is an OR, Exclude a NOT, Require an AND. */
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

/** The rules that the emulated API takes. */
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
 * `host`, `host/path` (and what is below it) and `*` inside either. A `*` in the host stays within a label, one at
 * the path's end takes everything.
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

/** A `*` is `inside`, a NUL is anything. */
function pattern(text: string, inside: string): RegExp {
  const source = text
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", inside)
    .replaceAll("\0", ".*");
  return new RegExp(`^${source}$`, "i");
}

/** More literal characters are more specific, and of two equal ones the one without a wildcard. */
function specificity(uri: string): number {
  return uri.replaceAll("*", "").length * 2 + (uri.includes("*") ? 0 : 1);
}

/** https://developers.cloudflare.com/rules/normalization/ : an escaped letter is no way around a path. */
function normalised(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/\/{2,}/g, "/");
  } catch {
    return path;
  }
}
