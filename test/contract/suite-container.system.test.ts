import { describe } from "vitest";
import { engine } from "../support/docker.ts";
import { containerTarget } from "../support/targets/container.ts";
import { contractSuite } from "./suite/index.ts";

describe.skipIf(!engine.ok)("on Docker", () => {
  contractSuite(containerTarget);
});
