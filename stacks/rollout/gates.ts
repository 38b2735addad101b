import type { PlannedMigrations } from "../../infra/serverless/migration-changes.ts";
import type { PlannedStep } from "../deployed/steps.ts";

/** What is going to happen, as far as somebody's word may be asked for it. */
export interface Plan {
  steps: readonly PlannedStep[];
  /** Tags that the update applies to a Worker that is there. */
  migrations: readonly string[];
}

/** Types whose resources keep what people wrote: of a Worker its Durable Object's ledger. */
const STATE = [
  "cloudflare:index/r2Bucket:R2Bucket",
  "cloudflare:index/worker:Worker",
  "docker:index/volume:Volume",
];
const WORKER = "cloudflare:index/worker:Worker";

/** The tags that are new; none for a stack that has no Worker yet, which has nothing to lose. */
export function newTags(
  deployed: PlannedMigrations | undefined,
  planned: PlannedMigrations | undefined,
): string[] {
  if (deployed === undefined || planned === undefined) return [];
  return planned.migrations.slice(deployed.migrations.length).map(({ tag }) => tag);
}

/** What stops the update until somebody accepts it, a line each with the way on. `accept` is the tag that was. */
export function openGates({ steps, migrations }: Plan, accept: string | undefined): string[] {
  const open = migrations
    .filter((tag) => tag !== accept)
    .map((tag) => `The migration ${tag} is going to be applied. To accept it: --accept-migration ${tag}`);
  const lost = steps.filter(({ op, type }) => STATE.includes(type) && (op === "replace" || op === "delete"));
  const unasked = lost.filter(({ type }) => type !== WORKER || migrations.length === 0);
  return [
    ...open,
    ...unasked.map(
      ({ op, name, type }) =>
        `${name} (${type}) is going to be ${op === "delete" ? "deleted" : "replaced"}, with what it keeps. No rollout does that: take a backup, then pulumi up`,
    ),
  ];
}
