import { hostGround } from "./specification/ground.ts";
import { walkSections } from "./specification/walk.ts";

walkSections(hostGround, ["5", "6"]);
