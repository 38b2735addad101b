import { workerWorld } from "./specification/shared-world.ts";
import { walkSections } from "./specification/walk.ts";

walkSections(workerWorld, ["4", "5", "6"]);
