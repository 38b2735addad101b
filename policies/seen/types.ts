/** The types that the rules look at, as the engine names them. */
export const TYPES = {
  stack: "pulumi:pulumi:Stack",
  worker: "cloudflare:index/worker:Worker",
  workerVersion: "cloudflare:index/workerVersion:WorkerVersion",
  workersDeployment: "cloudflare:index/workersDeployment:WorkersDeployment",
  workersDomain: "cloudflare:index/workersCustomDomain:WorkersCustomDomain",
  accessApplication: "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  accessPolicy: "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  bucket: "cloudflare:index/r2Bucket:R2Bucket",
  bucketDomain: "cloudflare:index/r2CustomDomain:R2CustomDomain",
  bucketManagedDomain: "cloudflare:index/r2ManagedDomain:R2ManagedDomain",
  bucketLifecycle: "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle",
  containerApplication: "pulumi-nodejs:dynamic/serverless:ContainerApplication",
  container: "docker:index/container:Container",
  image: "docker:index/remoteImage:RemoteImage",
  volume: "docker:index/volume:Volume",
  command: "command:local:Command",
} as const;
