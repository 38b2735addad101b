/** Connection settings of Cloudflare. */
export interface CloudflareAccess {
  apiToken: string;
  /** `undefined`: Cloudflare's own address. */
  baseURL: string | undefined;
}

/** Whose account is asked, and as whom. */
export interface AccountAccess extends CloudflareAccess {
  accountId: string;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 10_000;

/** One read below the account's address, without the client: a program that asks little starts sooner. */
export function readInAccount(access: AccountAccess, path: string): Promise<Response> {
  const { accountId, apiToken, baseURL = CLOUDFLARE } = access;
  return fetch(`${baseURL}/accounts/${accountId}/${path}`, {
    headers: { authorization: `Bearer ${apiToken}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}
