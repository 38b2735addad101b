import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";
import { AWAIT_RESTORE_VARIABLE, CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";
import { preferOomKill, runtimeProgramFile, programsFolder } from "../process/programs.ts";
import { SUPERVISED_VARIABLE } from "../process/stop.ts";
import { SMALL_HEAP, SMALL_MALLOC } from "./memory.ts";

/**
 * Out-of-memory score of the gateway. The kernel kills it before the supervisor, which can report the cause and restart
 * it.
 */
const OOM_SCORE = 500;

export function gatewayCommand(): [string, ...string[]] {
  return preferOomKill(OOM_SCORE, [process.execPath, ...SMALL_HEAP, runtimeProgramFile("gateway/main")]);
}

export function cliCommand(): [string, ...string[]] {
  return [process.execPath, ...SMALL_HEAP, runtimeProgramFile("gateway/cli/main")];
}

interface GatewaySurroundings {
  environment: Environment;
  controlToken: string;
  /** The data directory. */
  home: string;
  gatewayPort: number;
}

export function gatewayEnvironment({
  environment,
  controlToken,
  home,
  gatewayPort,
}: GatewaySurroundings): Environment {
  return {
    ...SMALL_MALLOC,
    ...environment,
    // The gateway need not wait for a restore: the supervisor starts the gateway afterwards.
    [AWAIT_RESTORE_VARIABLE]: undefined,
    [CONTROL_TOKEN_VARIABLE]: controlToken,
    [SUPERVISED_VARIABLE]: "1",
    STEWARD_HOME: home,
    GATEWAY_PORT: String(gatewayPort),
  };
}

export function runningBundle(): string {
  try {
    return readFileSync(join(programsFolder(), BUNDLE_FILE), "utf8").trim();
  } catch {
    return FROM_SOURCE;
  }
}
