import type { Environment } from "../../contract/environment.ts";
import type { Log } from "../../shared/log.ts";
import type { ChannelAccess } from "../../shared/channel-access.ts";

export interface ChannelOptions<Section> {
  config: Section;
  access: ChannelAccess;
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}
