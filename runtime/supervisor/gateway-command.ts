import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";
import { AWAIT_RESTORE_VARIABLE, CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";
import { SUPERVISED_VARIABLE } from "../process/stop.ts";
import { goesFirst, SMALL_HEAP, SMALL_MALLOC } from "./memory.ts";

const FILE = fileURLToPath(import.meta.url);

/** The gateway's program. */
export function gatewayCommand(): [string, ...string[]] {
  return goesFirst([process.execPath, ...SMALL_HEAP, programFile("gateway/main")]);
}

/** The command line's program. */
export function cliCommand(): [string, ...string[]] {
  return [process.execPath, ...SMALL_HEAP, programFile("gateway/cli/main")];
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
    ...SMALL_MALLOC,
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
