import type { PlannedStep } from "../deployed/steps.ts";

/** What is going to happen, as far as somebody's word may be asked for it. */
export interface Plan {
  steps: readonly PlannedStep[];
  /** Tags that the update applies to a Worker that is there. */
  migrations: readonly string[];
}

const WORKER = "cloudflare:index/worker:Worker";
/** Types whose resources keep what people wrote: of a Worker its Durable Object's ledger. */
const STATE = [WORKER, "cloudflare:index/r2Bucket:R2Bucket", "docker:index/volume:Volume"];

/** What somebody has said before. */
export interface Word {
  /** The tag of the migration that may be applied. */
  accept: string | undefined;
  /** The shares that a new version of the Worker is to get. */
  canary: readonly number[];
}

/** What stops the update until somebody accepts it, a line each with the way on. */
export function openGates({ steps, migrations }: Plan, { accept, canary }: Word): string[] {
  const open = migrations
    .filter((tag) => tag !== accept)
    .map((tag) => `The migration ${tag} is going to be applied. To accept it: --accept-migration ${tag}`);
  const lost = steps.filter(({ op, type }) => STATE.includes(type) && (op === "replace" || op === "delete"));
  const unasked = lost.filter(({ type }) => type !== WORKER || migrations.length === 0);
  const atOnce = migrations.filter((tag) => canary.length > 0 && tag === accept);
  return [
    ...open,
    ...atOnce.map((tag) => `The migration ${tag} takes no shares. To apply it at once: without --canary`),
    ...unasked.map(
      ({ op, name, type }) =>
        `${name} (${type}) is going to be ${op === "delete" ? "deleted" : "replaced"}, with what it keeps. No rollout does that: take a backup, then pulumi up`,
    ),
  ];
}
