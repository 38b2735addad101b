import { setFlagsFromString } from "node:v8";

/**
 * From here on V8 weighs memory above speed when it decides how far its heap may grow. Given on the command line the
 * flag costs a start 15 ms (`npm run bench -- --only start`), so each process sets it once it serves; without it a
 * thousand messages leave a third more behind (`--only memory`).
 */
export function saveMemory(): void {
  setFlagsFromString("--optimize-for-size");
}
