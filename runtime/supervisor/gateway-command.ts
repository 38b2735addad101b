import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";
import { SUPERVISED_VARIABLE } from "../process/stop.ts";

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
  const file = fileURLToPath(import.meta.url);
  const gateway = new URL(`../gateway/main${extname(file)}`, import.meta.url);
  return [process.execPath, ...MODEST, fileURLToPath(gateway)];
}

/** What a gateway is told beside its own variables. */
export interface GatewaySurroundings {
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
    ...environment,
    [CONTROL_TOKEN_VARIABLE]: controlToken,
    [SUPERVISED_VARIABLE]: "1",
    STEWARD_HOME: home,
    GATEWAY_PORT: String(gatewayPort),
  };
}
