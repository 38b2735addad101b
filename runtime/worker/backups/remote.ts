import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import type { Backups } from "../../edge/ports.ts";
import { inWords } from "./in-words.ts";

/** End of a call: an error as data, since it loses its class on the way out of a Durable Object. */
export type BackupsOutcome = { value: unknown } | { code: ErrorCode; detail: string };

/** The Durable Object's way in for the copies; their names beside the ledger's and the sandbox's own. */
export interface BackupsDoor {
  callBackups(method: keyof Backups, parameters: unknown[]): Promise<BackupsOutcome>;
}

/** Calls a method inside the Durable Object. */
export async function callBackups(
  backups: Backups,
  method: keyof Backups,
  parameters: unknown[],
): Promise<BackupsOutcome> {
  try {
    const called = backups[method] as (...given: unknown[]) => Promise<unknown>;
    return { value: await called.apply(backups, parameters) };
  } catch (error) {
    const { code, message } = inWords(error, "backup_failed");
    return { code, detail: message };
  }
}

/** The copies as the Worker's edge sees them. */
export function remoteBackups(object: () => BackupsDoor): Backups {
  const call = async (method: keyof Backups, ...parameters: unknown[]): Promise<never> => {
    const outcome = await object().callBackups(method, parameters);
    if ("code" in outcome) throw new StewardError(outcome.code, outcome.detail);
    return outcome.value as never;
  };
  return {
    status: () => call("status"),
    list: () => call("list"),
    create: (options) => call("create", options),
    verify: (id) => call("verify", id),
    restore: (id, config) => call("restore", id, config),
    cachedConfig: () => call("cachedConfig"),
    configOf: (id) => call("configOf", id),
  };
}
