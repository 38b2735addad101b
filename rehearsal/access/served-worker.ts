import {
  hostnameOf,
  canaryScriptName,
  servingShares,
  type AccountState,
  type ServingShare,
  type WorkerRecord,
} from "../cloudflare/index.ts";

export interface ServedWorker {
  /** The script that answers, under the name that the runner knows. */
  script: string;
  /** Id of the version that answers. */
  version: string;
  /** The host name that it has at Cloudflare, which Access destinations are written with. */
  hostname: string;
}

/**
 * Returns the Worker that a request's Host names, in one of the versions that serve. The rehearsal's public address is
 * on loopback and stands for the Worker that was deployed last; a custom domain or a `workers.dev` name chooses one. A
 * Worker without a custom domain whose workers.dev name is off cannot be reached:
 * https://developers.cloudflare.com/workers/configuration/routing/workers-dev/
 *
 * @param chance decides between two versions, from 0 up to 1.
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
  const chosen = byChance(shares, chance);
  const isFirst = chosen === undefined || chosen === shares[0];
  const version = (chosen ?? shares[0])?.version.id ?? "";
  return { hostname, version, script: isFirst ? worker.name : canaryScriptName(worker, chosen.version) };
}

/** Returns a Worker's host names. The custom domain is last, since the loopback address stands for the last name. */
function hostnamesOf(state: Readonly<AccountState>, worker: WorkerRecord): string[] {
  const domains = state.domains.filter(({ service }) => service === worker.name);
  const names = domains.map(({ hostname }) => hostname);
  return worker.subdomain.enabled ? [hostnameOf(state, worker), ...names] : names;
}

function byChance(shares: readonly ServingShare[], chance: number): ServingShare | undefined {
  const [first] = shares;
  return chance * 100 < (first?.percentage ?? 100) ? first : shares[1];
}
