import {
  hostnameOf,
  canaryScriptName,
  servingShares,
  type AccountState,
  type ServingShare,
  type WorkerRecord,
} from "../cloudflare/index.ts";

export interface ServedWorker {
  /** Script name in the runner. */
  script: string;
  version: string;
  /** Host name that the Worker would have on Cloudflare, for matching Access destinations. */
  hostname: string;
}

/**
 * Returns the Worker that serves a host name, with the version that answers. A loopback address selects the last
 * deployed Worker.
 * https://developers.cloudflare.com/workers/configuration/routing/workers-dev/
 *
 * @param chance random number that chooses between two versions: at least 0, below 1.
 */
export function servedWorker(
  state: Readonly<AccountState>,
  host: string,
  chance: number,
): ServedWorker | undefined {
  const served = state.workers
    .map((worker) => ({ worker, shares: servingShares(state, worker.id) }))
    .filter(({ shares }) => shares.length > 0)
    .toSorted((left, right) => (left.worker.deployed_on ?? "").localeCompare(right.worker.deployed_on ?? ""))
    .flatMap(({ worker, shares }) =>
      hostnamesOf(state, worker).map((hostname) => ({ worker, shares, hostname })),
    );
  const name = host.replace(/:\d+$/, "").toLowerCase();
  const found = served.find(({ hostname }) => hostname === name) ?? served.at(-1);
  if (found === undefined) return undefined;
  const { worker, shares, hostname } = found;
  const chosen = pickShare(shares, chance);
  const isFirst = chosen === undefined || chosen === shares[0];
  const version = (chosen ?? shares[0])?.version.id ?? "";
  return { hostname, version, script: isFirst ? worker.name : canaryScriptName(worker, chosen.version) };
}

/**
 * Returns a Worker's host names. Custom domains come last, because {@link servedWorker} uses the last host name for
 * requests to a loopback address.
 */
function hostnamesOf(state: Readonly<AccountState>, worker: WorkerRecord): string[] {
  const domains = state.domains.filter(({ service }) => service === worker.name);
  const names = domains.map(({ hostname }) => hostname);
  return worker.subdomain.enabled ? [hostnameOf(state, worker), ...names] : names;
}

function pickShare(shares: readonly ServingShare[], chance: number): ServingShare | undefined {
  const [first] = shares;
  return chance * 100 < (first?.percentage ?? 100) ? first : shares[1];
}
