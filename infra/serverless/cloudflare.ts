/** The parts of `@pulumi/cloudflare` that the stack uses. Importing the whole package would load 770 more modules. */
export type { types } from "@pulumi/cloudflare";
export { Worker } from "@pulumi/cloudflare/worker.js";
export { WorkersCustomDomain } from "@pulumi/cloudflare/workersCustomDomain.js";
export { WorkerVersion } from "@pulumi/cloudflare/workerVersion.js";
export {
  ZeroTrustAccessApplication,
  type ZeroTrustAccessApplicationArgs,
} from "@pulumi/cloudflare/zeroTrustAccessApplication.js";
export { ZeroTrustAccessPolicy } from "@pulumi/cloudflare/zeroTrustAccessPolicy.js";
