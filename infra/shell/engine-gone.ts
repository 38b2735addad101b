import errors from "@pulumi/pulumi/errors.js";

const LOOK_MS = 1_000;

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
 * `CANCELLED` for the last words of an engine that has ended, and may call such a program done (pulumi
 * sdk/nodejs/automation/server.ts, sdk/nodejs/runtime/rpc.ts). An engine that still runs then deletes whatever the
 * program has not registered.
 */
export function failWithoutEngine(): void {
  Object.assign(errors, { isGrpcError: () => false });
}
