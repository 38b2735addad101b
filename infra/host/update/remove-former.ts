// Removes the previous version's container if the stack is being destroyed. This script also runs during an update,
// but then the container named in STEWARD_CONTAINER still exists, and nothing is removed.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
