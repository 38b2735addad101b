import { rm } from "node:fs/promises";
import path from "node:path";
import { startHost } from "../host.ts";
import { DEPRECATED, KEPT_FROM_STARTING, startStandIns, type Target } from "./target.ts";

export async function nodeTarget(): Promise<Target> {
  const { settings, platforms, environment } = await startStandIns();
  const { adminToken } = settings.secrets;
  const host = await startHost({
    environment: { ...environment, ADMIN_TOKEN: adminToken },
    config: DEPRECATED,
  });
  await host.inState("crash-looping");
  return {
    url: host.url,
    settings,
    platforms,
    operator: { authorization: `Bearer ${adminToken}` },
    down: KEPT_FROM_STARTING,
    mend: () => rm(path.join(host.home, "steward.json")),
    stop: async () => {
      await host.stop();
      await platforms.close();
    },
  };
}
