import { tmpdir } from "node:os";
import { join } from "node:path";
import { withFileLock } from "../../infra/shell/cache.ts";

/**
 * Waits until no other test uses a real host stack's names, `steward` and `steward-data`, on this machine's engine.
 *
 * @returns A function that releases the names.
 */
export function holdHostNames(): Promise<() => void> {
  return new Promise((held, refused) => {
    const work = () => new Promise<void>((release) => held(release));
    withFileLock(join(tmpdir(), "steward-host-names.lock"), work).catch(refused);
  });
}
