// Removes the previous version's container when the stack is destroyed. If an update replaces the resource, the
// container STEWARD_CONTAINER still exists, and nothing is removed.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
