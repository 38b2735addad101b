// Removes the previous version's container at the end of a destroy, but not if an update replaces the resource:
// STEWARD_CONTAINER then still exists.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
