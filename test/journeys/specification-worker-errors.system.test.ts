import { workerGround } from "./specification/ground.ts";
import { walkSections } from "./specification/walk.ts";

walkSections(workerGround, ["7"]);
