import type { Environment } from "../../../contract/environment.ts";
import { StewardError } from "../../../contract/errors.ts";
import { directAddress, isSlackFile } from "../../../contract/services.ts";
import type { Attachment } from "../channel.ts";
import { fetchFile } from "../files.ts";

/** How Slack's files are reached. */
export interface SlackFilesOptions {
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
export function slackFiles({ botToken, apiUrl, environment, maxBytes }: SlackFilesOptions) {
  const allowed = (url: URL): boolean => isSlackFile(url, environment);
  const isBrokered = apiUrl !== directAddress("slack", environment);
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
