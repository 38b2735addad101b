import { rehearsalTarget } from "../support/targets/rehearsal.ts";
import { contractSuite } from "./suite/index.ts";

contractSuite(rehearsalTarget);
