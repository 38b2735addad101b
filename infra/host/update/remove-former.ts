// Removes the previous version's container when the stack is destroyed. During an update, the container named in
// STEWARD_CONTAINER still exists, so nothing is removed.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
