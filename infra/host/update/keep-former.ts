// Runs first in a host stack's update, before Pulumi replaces the container named in STEWARD_CONTAINER.
import { containersOf } from "./containers.ts";
import { keepPrevious } from "./previous.ts";
import { print, printError } from "../../../runtime/shared/terminal.ts";

try {
  print(`${await keepPrevious(containersOf(), process.env["STEWARD_CONTAINER"] ?? "")}\n`);
} catch (error) {
  printError(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
