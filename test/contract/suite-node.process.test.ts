import { nodeTarget } from "../support/targets/node.ts";
import { contractSuite } from "./suite/index.ts";

contractSuite(nodeTarget);
