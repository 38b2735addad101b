// What an update of the host stack does before it makes another container of STEWARD_CONTAINER.
import { keepFormer } from "./former.ts";

try {
  process.stdout.write(`${await keepFormer(process.env["STEWARD_CONTAINER"] ?? "")}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
