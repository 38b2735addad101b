// The last step of a destroy: removes the version before of STEWARD_CONTAINER. While that container exists, an update
// replaces this resource, and the version before is still needed.
import { containersOf } from "./containers.ts";
import { dropFormer } from "./former.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
const containers = containersOf();
if ((await containers.inspect(name)) === undefined) await dropFormer(containers, name);
