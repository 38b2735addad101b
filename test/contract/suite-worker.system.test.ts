import { workerTarget } from "../support/targets/worker.ts";
import { contractSuite } from "./suite/index.ts";

contractSuite(workerTarget);
