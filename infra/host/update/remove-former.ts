// Runs last in a destroy: removes the previous version's container. If STEWARD_CONTAINER still exists, an update is
// replacing the resource and needs the previous version.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
