import { hostWorld } from "./specification/shared-world.ts";
import { walkSections } from "./specification/walk.ts";

walkSections(hostWorld, ["5", "6"]);
