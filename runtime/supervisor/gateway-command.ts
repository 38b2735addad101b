import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * V8 grows its heap where memory is plenty, and a host has more of it than a container may use: with
 * these, a thousand messages leave the gateway at less than half (`npm run bench -- --only memory`).
 */
const MODEST = ["--max-semi-space-size=2", "--optimize-for-size"];

/**
 * The gateway's program, as seen from this file: in the bundle it is one folder deep, too, and has the same
 * extension as the program.
 */
export function gatewayCommand(): [string, ...string[]] {
  return [process.execPath, ...MODEST, programPath("main")];
}

/** The command line's program. */
export function cliCommand(): [string, ...string[]] {
  return [process.execPath, ...MODEST, programPath("cli/main")];
}

function programPath(name: string): string {
  const file = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../gateway/${name}${extname(file)}`, import.meta.url));
}
