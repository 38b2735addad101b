import type { Config } from "../../../contract/config.ts";
import type { ChannelHealth } from "../../../contract/control.ts";
import { StewardError, type Reason } from "../../../contract/errors.ts";
import type { Log } from "../../../contract/log.ts";
import type { DirectMessageAccess } from "../access.ts";
import type { Channel } from "../channel.ts";
import { splitText } from "../split.ts";
import { readSlackEvent } from "./inbound.ts";
import type { SlackSender } from "./outbound.ts";

/** What the Slack channel works with. */
export interface SlackChannelOptions {
  config: NonNullable<Config["channels"]["slack"]>;
  access: DirectMessageAccess;
  send: SlackSender;
  log: Log;
}

/** Slack over the Events API (in) and the Web API (out). */
export function createSlackChannel({ config, access, send, log }: SlackChannelOptions): Channel {
  let failure: Reason | undefined;
  return {
    platform: "slack",
    receive: (payload) => readSlackEvent(payload, access),
    split: (text) => splitText(text, config.textChunkLimit),
    send: async (target, text) => {
      try {
        await send(target, text);
        failure = undefined;
      } catch (error) {
        if (error instanceof StewardError) {
          failure = error.reason;
          log.error("Slack did not take a reply", { ...failure });
        }
        throw error;
      }
    },
    health: (): ChannelHealth =>
      failure === undefined
        ? { platform: "slack", state: "ready" }
        : { platform: "slack", state: "failing", reason: failure },
  };
}
