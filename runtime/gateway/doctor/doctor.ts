import { checkConfigFile } from "./config.ts";
import { checkDisk } from "./disk.ts";
import type { DoctorOptions, Finding } from "./finding.ts";
import { checkRights } from "./rights.ts";
import { checkRunning, type RunningGateway } from "./running.ts";
import { checkStores } from "./stores.ts";

/** Looks at everything that can be wrong on this machine. Changes nothing. */
export async function examine(options: DoctorOptions, running: RunningGateway): Promise<Finding[]> {
  return [
    ...(await checkConfigFile(options)),
    ...checkRights(options),
    ...checkStores(options),
    ...checkDisk(options),
    ...checkRunning(running),
  ];
}
