import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { deploy } from "../../../rehearsal/deploy.ts";
import { openWorld } from "../../../rehearsal/world.ts";
import { ASLEEP, type Target } from "./target.ts";

/** Deploys a serverless stack as `npm start` does. */
export async function rehearsalTarget(): Promise<Target> {
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
