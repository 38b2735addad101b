import { statSync } from "node:fs";
import { isIP } from "node:net";
import { isAbsolute, join } from "node:path";
import { StewardError } from "../contract/errors.ts";
import { LOG_LEVELS, type LogLevel } from "../shared/log.ts";
import { CONFIG_FILE, DATA_DIRECTORY, PORTS } from "../contract/names.ts";
import { CONFIG_VARIABLE, CONTROL_TOKEN_VARIABLE, type Environment } from "../contract/variables.ts";

export interface ProcessSettings {
  /** Absolute. */
  home: string;
  configPath: string;
  /** Address on which gateway and supervisor listen. */
  bind: string;
  gatewayPort: number;
  supervisorPort: number;
  edgePort: number;
  controlToken: string | undefined;
  /** Lowest level to log. If it is `undefined`, the config file sets the level. */
  logLevel: LogLevel | undefined;
}

/**
 * Reads the settings and the control token. An empty variable counts as not set.
 *
 * @throws StewardError `environment_invalid`, which lists every invalid variable.
 */
export function readProcessSettings(environment: Environment): ProcessSettings {
  const problems: string[] = [];
  const port = (name: string, fallback: number): number => {
    const text = environment[name] || String(fallback);
    const value = /^\d{1,5}$/.test(text) ? Number(text) : -1;
    if (value < 1 || value > 65_535) problems.push(`${name}: "${text}" is not a port from 1 to 65535`);
    return value;
  };
  const home = environment["STEWARD_HOME"] || DATA_DIRECTORY;
  if (!isAbsolute(home)) problems.push(`STEWARD_HOME: "${home}" is not an absolute path`);
  const bind = environment["STEWARD_BIND"] || "127.0.0.1";
  if (isIP(bind) === 0) problems.push(`STEWARD_BIND: "${bind}" is not an IP address`);
  const level = environment["LOG_LEVEL"] || undefined;
  const logLevel = LOG_LEVELS.find((name) => name === level);
  if (level !== undefined && logLevel === undefined) {
    problems.push(`LOG_LEVEL: "${level}" is none of ${LOG_LEVELS.join(", ")}`);
  }
  const gatewayPort = port("GATEWAY_PORT", PORTS.gateway);
  const supervisorPort = port("SUPERVISOR_PORT", PORTS.supervisor);
  const edgePort = port("PORT", PORTS.edge);
  if (problems.length > 0) throw new StewardError("environment_invalid", problems.join("; "));
  const controlToken = environment[CONTROL_TOKEN_VARIABLE] || undefined;
  return {
    home,
    configPath: environment[CONFIG_VARIABLE] || join(home, CONFIG_FILE),
    bind,
    gatewayPort,
    supervisorPort,
    edgePort,
    controlToken,
    logLevel,
  };
}

/** Returns device and inode numbers, which identify the data directory on this machine without revealing its path. */
export function homeName(home: string): string {
  const found = statSync(home, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : "missing";
}
