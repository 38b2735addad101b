import type { Config } from "../../../contract/config/index.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import { serviceAddress } from "../../../contract/services.ts";
import { Standing } from "../standing.ts";
import type { Channel } from "../channel.ts";
import type { ChannelOptions } from "../options.ts";
import { slackFiles } from "./files.ts";
import { readSlackEvent } from "./inbound.ts";
import { createSlackSender } from "./outbound.ts";
import { splitForSlack } from "./split.ts";

/** What the Slack channel works with. */
export type SlackChannelOptions = ChannelOptions<NonNullable<Config["channels"]["slack"]>>;

/**
 * Slack over the Events API (in) and the Web API (out). It shows no typing: Slack has that for assistant
 * apps alone (`assistant.threads.setStatus`), and a growing message says the same.
 */
export function createSlackChannel(options: SlackChannelOptions): Channel {
  const { config, access, environment, clock, log } = options;
  const botToken = resolveSecret(config.botToken, environment);
  const apiUrl = serviceAddress("slack", botToken, environment);
  const sender = createSlackSender({ botToken, apiUrl, clock });
  const mediaMaxBytes = Math.floor(config.mediaMaxMb * 1024 * 1024);
  const load = slackFiles({ botToken, apiUrl, environment, maxBytes: mediaMaxBytes });
  const streams = config.streamMode === "edit";
  const standing = new Standing({ platform: "slack", log });

  return {
    platform: "slack",
    streams,
    mediaMaxBytes,
    receive: (payload) => readSlackEvent(payload, access),
    split: (text) => splitForSlack(text, config.textChunkLimit, streams),
    send: (target, text) =>
      standing.out(async () => {
        const id = await sender.post(target, text);
        return id === undefined ? {} : { id };
      }),
    edit: (target, id, text) => standing.out(() => sender.update(target, id, text)),
    load: async (attachment, signal) => {
      try {
        return await load(attachment, signal);
      } catch (error) {
        log.warn("a file of Slack could not be fetched", { reason: String(error) });
        throw error;
      }
    },
    probe: () => standing.probe(() => sender.test()),
    health: () => standing.health(),
  };
}
