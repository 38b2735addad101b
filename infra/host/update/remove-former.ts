// The last step of a destroy: removes the container of the previous version of STEWARD_CONTAINER. If STEWARD_CONTAINER
// still exists, this is an update that replaces the resource, and the previous version is still needed.
import { containersOf } from "./containers.ts";
import { removePrevious } from "./previous.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await removePrevious(containers, name);
