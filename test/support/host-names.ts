import { tmpdir } from "node:os";
import { join } from "node:path";
import { withFileLock } from "../../infra/shell/cache.ts";

/**
 * Waits until no other test uses the names `steward` and `steward-data` in Docker. Returns a function that releases
 * them.
 */
export function holdHostNames(): Promise<() => void> {
  return new Promise((held, refused) => {
    const work = () => new Promise<void>((release) => held(release));
    withFileLock(join(tmpdir(), "steward-host-names.lock"), work).catch(refused);
  });
}
