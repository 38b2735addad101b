// Removes the previous version's container when the stack is destroyed. Does nothing if the container named in
// STEWARD_CONTAINER still exists, because an update is then replacing this resource.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
