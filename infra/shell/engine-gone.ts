import errors from "@pulumi/pulumi/errors.js";
import settings from "@pulumi/pulumi/runtime/settings.js";

const LOOK_MS = 1_000;
/**
 * Calls to the engine are repeated where no connection could be made, as happens now and then on a busy machine
 * (https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
 */
const RETRY = {
  maxAttempts: 5,
  initialBackoff: "0.2s",
  maxBackoff: "2s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

/**
 * Ends this process when the one that started it has ended. An engine that is killed cannot end its program and its
 * providers, which would wait for it for ever.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, LOOK_MS).unref();
}

/**
 * Lets the inline programs of this process fail where they lose their engine. The Automation API takes `UNAVAILABLE` and
 * `CANCELLED` as the end of the engine, and may report success for such a program (pulumi sdk/nodejs/automation/server.ts,
 * sdk/nodejs/runtime/rpc.ts). An engine that still runs then deletes whatever the program has not registered.
 */
export function failWithoutEngine(): void {
  const service = { loadBalancingConfig: [], methodConfig: [{ name: [{}], retryPolicy: RETRY }] };
  // The SDK's types leave it out.
  const { grpcClientOptions } = settings as unknown as { grpcClientOptions: object };
  Object.assign(grpcClientOptions, { "grpc.service_config": JSON.stringify(service) });
  Object.assign(errors, { isGrpcError: () => false });
}
