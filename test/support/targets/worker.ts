import { openIdentityGateway } from "../identity-keys.ts";
import { startWorker } from "../worker.ts";
import { ASLEEP, startStandIns, type Target } from "./target.ts";

/** The built Worker in workerd; its container is a local process, and asleep at first. */
export async function workerTarget(): Promise<Target> {
  const { settings, platforms, environment } = await startStandIns();
  const { variables, headers, close } = await openIdentityGateway();
  const worker = await startWorker({ ...environment, ...variables });
  return {
    url: await worker.origin(),
    settings,
    platforms,
    operator: headers,
    down: ASLEEP,
    // The first event wakes it.
    mend: async () => {},
    stop: async () => {
      await worker.stop();
      await platforms.close();
      close();
    },
  };
}
