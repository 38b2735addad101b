// The end of the host stack: what an update kept goes with its container, STEWARD_CONTAINER. While that is
// there, it is only one update that ends.
import { inspectContainer } from "./copy.ts";
import { dropFormer } from "./former.ts";

const name = process.env["STEWARD_CONTAINER"] ?? "";
if ((await inspectContainer(name)) === undefined) await dropFormer(name);
