export { hostnameOf, canaryScriptName, servingShares } from "./account/lookup.ts";
export type { ServingShare } from "./account/lookup.ts";
export type { AccessApplicationRecord, AccountState, PolicyRecord, WorkerRecord } from "./account/state.ts";
export { AccountStore } from "./account/store.ts";
export { forward, forwardUpgrade, withoutHops, type ForwardTarget } from "./forward.ts";
export { LIMITS } from "./limits.ts";
export { createRunner } from "./runner-miniflare.ts";
export type { ContainerMode, WorkerRunner } from "./runner.ts";
export { startCloudflare, type RunningCloudflare } from "./server.ts";
