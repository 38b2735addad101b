import type { Config } from "../../../contract/config/index.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import type { Environment } from "../../../contract/environment.ts";
import { StewardError } from "../../../contract/errors.ts";
import { isPass, isSlackFile, serviceAddress } from "../../../contract/services.ts";
import type { Attachment, Channel } from "../channel.ts";
import type { ChannelOptions } from "../options.ts";
import { fetchFile } from "../files.ts";
import { OutgoingHealth } from "../outgoing-health.ts";
import { readSlackEvent } from "./inbound.ts";
import { splitForSlack } from "./mrkdwn.ts";
import { createSlackSender } from "./outbound.ts";

/** Dependencies of the Slack channel. */
type SlackChannelOptions = ChannelOptions<NonNullable<Config["channels"]["slack"]>>;

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
  const standing = new OutgoingHealth({ platform: "slack", log });

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

/** Connection settings of Slack's files. */
interface SlackFilesOptions {
  botToken: string;
  /** Without a slash at the end. */
  apiUrl: string;
  environment: Environment;
  maxBytes: number;
}

/**
 * Fetches a file with the bot token, which goes to Slack's own hosts alone.
 * https://docs.slack.dev/reference/objects/file-object#authentication
 *
 * @throws StewardError where it cannot be had. Without the scope files:read Slack answers with its sign-in page.
 */
function slackFiles({ botToken, apiUrl, environment, maxBytes }: SlackFilesOptions) {
  const allowed = (url: URL): boolean => isSlackFile(url, environment);
  const isBrokered = isPass("slack", botToken, environment);
  const via = (url: string): string =>
    isBrokered ? `${apiUrl}/file?${new URLSearchParams({ url }).toString()}` : url;
  return async (attachment: Attachment, signal: AbortSignal): Promise<Uint8Array> => {
    const headers = { authorization: `Bearer ${botToken}` };
    const file = await fetchFile(attachment.reference, { allowed, via, headers, maxBytes, signal });
    if (file.mediaType === "text/html" && attachment.mediaType !== "text/html") {
      throw new StewardError(
        "channel_failed",
        "Slack does not give the file: the app lacks the scope files:read. Add it and reinstall the app.",
      );
    }
    return file.bytes;
  };
}
