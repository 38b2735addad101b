/**
 * `steward-gateway/commands`: the operator's commands as functions. They never write to standard output or exit the
 * process. Errors carry a stable `code`.
 */
export { BuildFailure } from "../../infra/shell/failure.ts";
export { StewardError } from "../../runtime/contract/errors.ts";
export { backups, type BackupsOptions } from "./backup/backups.ts";
export { compose, type ComposeOptions, type ComposeResult } from "./compose/compose.ts";
export type { StackBackups } from "./deployed/signed.ts";
export type { CommandOptions, PlannedStep } from "./deployed/stack.ts";
export { drift, type Drift, type DriftResult } from "./drift/find.ts";
export { migrate, type MigrateOptions, type MigrateResult } from "./migrate/migrate.ts";
export { type Orphan, orphans, removeOrphan } from "./orphans/orphans.ts";
export { makePolicyPack, policies, type PoliciesResult } from "./policies/check.ts";
export type { PolicyConfig, PolicyOptions, PolicyViolation } from "./policies/preview.ts";
export { preview, type PreviewResult } from "./preview/preview.ts";
export type { DeployedBuild } from "./promotion/promotion.ts";
export { EXIT, type RolloutOptions } from "./rollout/options.ts";
export type { UpdatePlan } from "./rollout/plan.ts";
export { rollout, type RolloutExit, type RolloutResult } from "./rollout/rollout.ts";
export { upgrade, type UpgradeOptions, type UpgradeResult } from "./upgrade/upgrade.ts";
