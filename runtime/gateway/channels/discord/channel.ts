import type { Config } from "../../../contract/config/index.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import { directAddress, serviceAddress } from "../../../contract/services.ts";
import { Standing } from "../standing.ts";
import type { Channel } from "../channel.ts";
import { fetchFile } from "../files.ts";
import type { ChannelOptions } from "../options.ts";
import { splitText } from "../split.ts";
import { createDiscordApi, DiscordError } from "./api.ts";
import { readDiscordError } from "./errors.ts";
import { readDiscordInteraction } from "./inbound.ts";
import { DiscordSender } from "./outbound.ts";

/** Where Discord keeps attachments: https://docs.discord.com/developers/reference#signed-attachment-cdn-urls */
const FILE_HOSTS = new Set(["cdn.discordapp.com", "media.discordapp.net"]);

/** What the Discord channel works with. */
export type DiscordChannelOptions = ChannelOptions<NonNullable<Config["channels"]["discord"]>>;

/**
 * Discord over interactions (in) and its HTTP API (out). Discord itself shows that an answer is being
 * made, and it reads the Markdown that models write.
 */
export function createDiscordChannel(options: DiscordChannelOptions): Channel {
  const { config, access, environment, clock, log } = options;
  const botToken = resolveSecret(config.token, environment);
  const apiUrl = serviceAddress("discord", botToken, environment);
  const interactionsUrl = directAddress("discord", environment);
  const call = createDiscordApi({ botToken, apiUrl, interactionsUrl, clock });
  const sender = new DiscordSender({ call, clock });
  const mediaMaxBytes = Math.floor(config.mediaMaxMb * 1024 * 1024);
  const standing = new Standing({
    platform: "discord",
    read: (error) => (error instanceof DiscordError ? readDiscordError(error) : error),
    log,
  });
  const mayFetch = (url: URL): boolean =>
    (url.protocol === "https:" && FILE_HOSTS.has(url.host)) || url.origin === new URL(interactionsUrl).origin;

  return {
    platform: "discord",
    streams: config.streamMode === "edit",
    mediaMaxBytes,
    receive: (payload) => readDiscordInteraction(payload, access),
    split: (text) => splitText(text, config.textChunkLimit),
    send: (target, text, part = 0) =>
      standing.out(async () => {
        const id = await sender.send(target, text, part);
        return id === undefined ? {} : { id };
      }),
    edit: (target, id, text) => standing.out(() => sender.edit(target, id, text)),
    dismiss: (target) => standing.out(() => sender.dismiss(target)),
    load: async ({ reference }, signal) => {
      const fetched = fetchFile(reference, { allowed: mayFetch, maxBytes: mediaMaxBytes, signal });
      return (await fetched).bytes;
    },
    probe: () => standing.probe(() => call({ method: "GET", path: "/users/@me", asBot: true })),
    health: () => standing.health(),
  };
}
