import { StewardError } from "../../runtime/contract/errors.ts";
import { type AccountAccess, sendToAccount } from "./account-api.ts";

/**
 * Permissions that every stack needs, ordered as in README.md. Their names come from
 * https://developers.cloudflare.com/fundamentals/api/reference/permissions/
 */
const ALWAYS: readonly Permission[] = [
  {
    name: "Workers Scripts",
    purpose: "the Worker, its versions, classes and host name",
    probe: "workers/workers?per_page=1",
  },
  { name: "Workers R2 Storage", purpose: "the bucket", probe: "r2/buckets?per_page=1" },
  {
    name: "Containers",
    purpose: "the container application",
    probe: "containers/applications?name=steward",
  },
];

const GATE: Permission = {
  name: "Access: Apps and Policies",
  purpose: "the identity gateway before the admin pages",
  probe: "access/apps?per_page=1",
};

interface PermissionCheck extends AccountAccess {
  permissions: readonly Permission[];
  /** Called for each permission that could not be checked. */
  warn: (line: string) => void;
}

interface Refusal {
  permission: Permission;
  answer: string;
}

/**
 * Tests each required permission of the token with one read, so a read-only token also passes. Calls `warn` if a read
 * is inconclusive.
 *
 * @throws StewardError `token_refused`, `cloudflare_unreachable`, or `token_permission_missing`, which lists all
 * missing permissions
 */
export async function checkPermissions(check: PermissionCheck): Promise<void> {
  const asked = await Promise.all(check.permissions.map((permission) => ask(check, permission)));
  const unanswered = asked.filter((one) => one instanceof StewardError);
  const [lost] = unanswered;
  // Fail if Cloudflare answered no request, because the deployment would fail too.
  if (lost !== undefined && unanswered.length === asked.length) throw lost;
  const refusals = asked.flatMap((one) => (one instanceof StewardError ? [] : one));
  for (const one of unanswered) check.warn(`A permission of the API token was not checked: ${one.message}`);
  if (refusals.length === 0) return;
  if (refusals.length === check.permissions.length) {
    throw new StewardError("token_refused", refusedText(check.accountId, refusals));
  }
  throw new StewardError("token_permission_missing", missingText(refusals), { fix: "" });
}

async function ask(check: PermissionCheck, permission: Permission): Promise<Refusal[] | StewardError> {
  try {
    const response = await sendToAccount(check, permission.probe);
    const { status } = response;
    if (status === 401 || status === 403) return [{ permission, answer: await answerOf(response) }];
    await response.body?.cancel();
    if (status === 429 || status >= 500) throw new Error(`Cloudflare answered ${status}`);
  } catch (error) {
    if (error instanceof StewardError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    check.warn(`Could not check whether the API token has the permission ${permission.name}: ${reason}`);
  }
  return [];
}

async function answerOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as { errors?: { code: number; message: string }[] };
  const words = (body.errors ?? []).map(({ code, message }) => `${message} (${code})`);
  return [response.status, ...words].join(" ");
}

function missingText(refusals: readonly Refusal[]): string {
  const count = refusals.length === 1 ? "a permission" : `${refusals.length} permissions`;
  const lines = refusals.flatMap(({ permission: { name, purpose }, answer }) => [
    `  ${name}: needed for ${purpose}; Cloudflare says ${answer}`,
    `    fix: add Account, ${name}, Edit to the token`,
  ]);
  return [`The API token lacks ${count} (token_permission_missing):`, ...lines].join("\n");
}

function refusedText(accountId: string, [first]: readonly Refusal[]): string {
  return `Cloudflare rejects the API token for everything that this stack does in account ${accountId} (token_refused): ${first?.answer}`;
}

interface Permission {
  /** Name in Cloudflare's dashboard. */
  name: string;
  /** Part of the stack that needs the permission. */
  purpose: string;
  /** Path of a cheap GET request that succeeds only with the permission. */
  probe: string;
}

export function permissionsOf({ gate }: { gate: boolean }): readonly Permission[] {
  return gate ? [...ALWAYS, GATE] : ALWAYS;
}
