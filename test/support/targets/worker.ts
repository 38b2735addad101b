import { openIdentityGateway } from "../identity-keys.ts";
import { startWorker } from "../worker.ts";
import { ASLEEP, startStandIns, type Target } from "./target.ts";

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
    // The first event wakes the container.
    mend: async () => {},
    stop: async () => {
      await worker.stop();
      await platforms.close();
      close();
    },
  };
}
