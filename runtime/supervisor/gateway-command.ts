import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";
import { AWAIT_RESTORE_VARIABLE, CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";
import { preferOomKill, runtimeProgramFile, programsFolder } from "../process/programs.ts";
import { SUPERVISED_VARIABLE } from "../process/stop.ts";
import { SMALL_HEAP, SMALL_MALLOC } from "./memory.ts";

/** It is ended before the supervisor, which can tell why and start it again. */
const OOM_SCORE = 500;

/** The gateway's program. */
export function gatewayCommand(): [string, ...string[]] {
  return preferOomKill(OOM_SCORE, [process.execPath, ...SMALL_HEAP, runtimeProgramFile("gateway/main")]);
}

/** The command line's program. */
export function cliCommand(): [string, ...string[]] {
  return [process.execPath, ...SMALL_HEAP, runtimeProgramFile("gateway/cli/main")];
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
