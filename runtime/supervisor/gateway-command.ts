import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";
import { AWAIT_RESTORE_VARIABLE, CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";
import { SUPERVISED_VARIABLE } from "../process/stop.ts";
import { goesFirst } from "./memory.ts";

const FILE = fileURLToPath(import.meta.url);

/**
 * V8 and the C library take memory where it is plenty, and a host has more of it than a container may use. V8 from
 * the start: a small nursery, which is no flag that its compiled code depends on (the others come later:
 * process/memory.ts). With all of them a thousand messages leave the service at seven tenths of what it weighs
 * otherwise, at the same speed (`npm run bench -- --only memory`). The image starts its own programs with the same.
 */
export const MODEST_V8 = ["--max-semi-space-size=2"] as const;

/**
 * One arena for all threads, and what is free goes back:
 * https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html
 */
export const MODEST_MALLOC = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "65536",
} as const;

/** The gateway's program. */
export function gatewayCommand(): [string, ...string[]] {
  return goesFirst([process.execPath, ...MODEST_V8, programFile("gateway/main")]);
}

/** The command line's program. */
export function cliCommand(): [string, ...string[]] {
  return [process.execPath, ...MODEST_V8, programFile("gateway/cli/main")];
}

/** Surroundings of a gateway, beside its own variables. */
interface GatewaySurroundings {
  environment: Environment;
  controlToken: string;
  /** The data directory. */
  home: string;
  gatewayPort: number;
}

/** The environment of a gateway that has a supervisor. */
export function gatewayEnvironment({
  environment,
  controlToken,
  home,
  gatewayPort,
}: GatewaySurroundings): Environment {
  return {
    ...MODEST_MALLOC,
    ...environment,
    // It tells the supervisor something; a gateway that was started has its data.
    [AWAIT_RESTORE_VARIABLE]: undefined,
    [CONTROL_TOKEN_VARIABLE]: controlToken,
    [SUPERVISED_VARIABLE]: "1",
    STEWARD_HOME: home,
    GATEWAY_PORT: String(gatewayPort),
  };
}

/** The hash of the bundle that this file belongs to. In the bundle it is one folder deep, too. */
export function runningBundle(): string {
  try {
    return readFileSync(join(programsFolder(), BUNDLE_FILE), "utf8").trim();
  } catch {
    return FROM_SOURCE;
  }
}

/**
 * The folder that holds the programs, each below its own name: `runtime` in source, `/app` in the image. Looked for
 * upwards, since a bundler puts this file wherever it is needed.
 */
function programsFolder(): string {
  let folder = dirname(FILE);
  while (!existsSync(join(folder, "gateway"))) folder = dirname(folder);
  return folder;
}

/** A program's file, such as `gateway/main`, which has the same extension as this one. */
function programFile(name: string): string {
  return join(programsFolder(), `${name}${extname(FILE)}`);
}
