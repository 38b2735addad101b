import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { ASLEEP, type Target } from "./target.ts";

/** What `npm start` deploys, under the real engine; its container is a local process, and asleep at first. */
export async function rehearsalTarget(): Promise<Target> {
  const { openWorld, deploy } = rehearsal();
  const dir = await mkdtemp(path.join(tmpdir(), "steward-suite-"));
  const options = {
    target: undefined,
    once: false,
    json: true,
    destroy: false,
    verbose: false,
    sandbox: "process",
    dir,
  } as const;
  const world = await openWorld("serverless", options, () => {});
  const stop = async (): Promise<void> => {
    await world.close();
    await rm(dir, { recursive: true });
  };
  try {
    const { url, audience } = await deploy(world.stack, new AbortController().signal, () => {});
    return {
      url,
      settings: world.settings,
      platforms: world.platforms,
      operator: await world.signIn(audience),
      down: ASLEEP,
      signInOrigin: `http://127.0.0.1:${world.settings.ports.identity}`,
      mend: async () => {},
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As Node itself loads it: the engine cannot serialise what the test runner makes of a program. */
function rehearsal() {
  const require = createRequire(import.meta.url);
  const { openWorld } =
    require("../../../rehearsal/world.ts") as typeof import("../../../rehearsal/world.ts");
  const { deploy } = require("../../../rehearsal/deploy.ts") as typeof import("../../../rehearsal/deploy.ts");
  return { openWorld, deploy };
}
