import { withErrorCode } from "../backups/remote-state.ts";
import type { Backups } from "../edge/ports.ts";
import { toResult, unwrap, type Result } from "./rpc.ts";

/**
 * Single method through which the Durable Object receives all backup calls. Separate methods would clash with methods
 * of the ledger and the sandbox.
 */
export interface BackupsDoor {
  callBackups(method: keyof Backups, parameters: unknown[]): Promise<Result<unknown>>;
}

export function callBackups(
  backups: Backups,
  method: keyof Backups,
  parameters: unknown[],
): Promise<Result<unknown>> {
  const called = backups[method] as (...given: unknown[]) => Promise<unknown>;
  return toResult(async () => {
    try {
      return await called.apply(backups, parameters);
    } catch (error) {
      throw withErrorCode(error, "backup_failed");
    }
  });
}

export function remoteBackups(object: () => BackupsDoor): Backups {
  const call = async (method: keyof Backups, ...parameters: unknown[]): Promise<never> =>
    (await unwrap(object().callBackups(method, parameters))) as never;
  return {
    status: () => call("status"),
    list: () => call("list"),
    create: (options) => call("create", options),
    verify: (id) => call("verify", id),
    restore: (id, config) => call("restore", id, config),
    download: (id) => call("download", id),
    cachedConfig: () => call("cachedConfig"),
    configOf: (id) => call("configOf", id),
  };
}
