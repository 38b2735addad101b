import { hostnameOf, servingVersion, type AccountState } from "../cloudflare/index.ts";

export interface ServedWorker {
  script: string;
  /** The host name that it has at Cloudflare, which Access destinations are written with. */
  hostname: string;
}

/**
 * The Worker that a request's Host names. In the rehearsal the public address is a loopback one, which stands for
 * the Worker that was deployed last; a `workers.dev` name chooses one. A Worker whose workers.dev name is off is
 * not reached: https://developers.cloudflare.com/workers/configuration/routing/workers-dev/
 */
export function servedWorker(state: Readonly<AccountState>, host: string): ServedWorker | undefined {
  const served = state.workers
    .filter((worker) => worker.subdomain.enabled && servingVersion(state, worker.id) !== undefined)
    .toSorted((left, right) => (left.deployed_on ?? "").localeCompare(right.deployed_on ?? ""))
    .map((worker) => ({ script: worker.name, hostname: hostnameOf(state, worker) }));
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return served.find(({ hostname }) => hostname === name) ?? served.at(-1);
}
