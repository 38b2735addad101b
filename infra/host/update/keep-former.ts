// The first step of an update of the host stack, before Pulumi replaces the container STEWARD_CONTAINER.
import { containersOf } from "./containers.ts";
import { keepFormer } from "./former.ts";

try {
  process.stdout.write(`${await keepFormer(containersOf(), process.env["STEWARD_CONTAINER"] ?? "")}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
