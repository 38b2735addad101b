import type { Attachment, ReplyTarget } from "../../../contract/message.ts";
import type { Config } from "../../../contract/config/index.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import type { Environment } from "../../../contract/environment.ts";
import { isErrorCode, StewardError } from "../../../contract/errors.ts";
import { PROBLEM_TYPE } from "../../../contract/problem.ts";
import { operationRequest, type ServiceRequest } from "../../../contract/service-operations.ts";
import { directAddress, isPass, serviceAddress } from "../../../contract/services.ts";
import { isRecord } from "../../../shared/json.ts";
import { openSlackFile } from "../../../shared/slack-file.ts";
import { type Channel, OutgoingHealth } from "../channel.ts";
import type { ChannelOptions } from "../options.ts";
import { readFileBody } from "../files.ts";
import { readSlackEvent, unknownParts } from "./inbound.ts";
import { splitForSlack } from "./mrkdwn.ts";
import { createSlackSender, LARGEST_FILE } from "./outbound.ts";

type SlackChannelOptions = ChannelOptions<NonNullable<Config["channels"]["slack"]>>;

/**
 * Milliseconds between renewals of a thread's status. Slack removes a status after two minutes, or when the bot posts
 * a message.
 */
const STATUS_MS = 100_000;
/** Milliseconds before a status is sent. Slack would keep showing a status that arrives after a quick answer. */
const STATUS_AFTER_MS = 300;

/** Creates a channel over Slack's Events API (incoming) and Web API (outgoing). */
export function createSlackChannel(options: SlackChannelOptions): Channel {
  const { config, access, environment, clock, log } = options;
  const botToken = resolveSecret(config.botToken, environment);
  const apiUrl = serviceAddress("slack", botToken, environment);
  const sender = createSlackSender({
    botToken,
    apiUrl,
    directUrl: directAddress("slack", environment),
    clock,
  });
  const mediaMaxBytes = Math.floor(config.mediaMaxMb * 1024 * 1024);
  const load = slackFiles({ botToken, environment, maxBytes: mediaMaxBytes });
  const { ackReaction } = config;
  const streams = config.streamMode === "edit";
  const standing = new OutgoingHealth({ platform: "slack", clock, log });

  return {
    platform: "slack",
    streams,
    mediaMaxBytes,
    receive: (payload) => readSlackEvent(payload, access),
    unknownParts,
    split: (text) => splitForSlack(text, config.textChunkLimit, streams),
    send: (target, text, _, buttons) =>
      standing.out(async () => {
        const id = await sender.post(target, text, buttons);
        return id === undefined ? {} : { id };
      }),
    files: {
      maxBytes: LARGEST_FILE,
      send: (target, file, caption) => standing.out(() => sender.sendFile(target, file, caption)),
    },
    edit: (target, id, text) => standing.out(() => sender.update(target, id, text)),
    ...(ackReaction !== undefined && {
      react: (target: ReplyTarget, message: string) =>
        sender.react(target, message, ackReaction).catch((error: unknown) => {
          log.warn("a reaction could not be set", { platform: "slack", error: String(error) });
        }),
    }),
    answerPress: (press, word, done) => sender.answerPress(press, word, done).catch(() => undefined),
    typing: (target) => sender.showStatus(target).catch(() => undefined),
    typingMs: STATUS_MS,
    typingAfterMs: STATUS_AFTER_MS,
    load: async (attachment, signal) => {
      try {
        return await load(attachment, signal);
      } catch (error) {
        log.warn("a Slack file could not be fetched", { reason: String(error) });
        throw error;
      }
    },
    nameOf: (kind, id) => sender.nameOf(kind, id),
    probe: () => standing.probe(() => sender.test()),
    health: () => standing.health(),
  };
}

interface SlackFilesOptions {
  botToken: string;
  environment: Environment;
  maxBytes: number;
}

/**
 * Returns a function that fetches files, through the broker or with the bot token. The returned function throws a
 * StewardError if a file cannot be fetched.
 */
function slackFiles({ botToken: key, environment, maxBytes }: SlackFilesOptions) {
  const open = (id: string, signal: AbortSignal): Promise<Response> =>
    isPass("slack", key, environment)
      ? openByBroker(operationRequest("slack/file", { id }, { key, environment }), signal)
      : openSlackFile(id, { key, environment, fetch, signal });
  return async ({ reference, mediaType }: Attachment, signal: AbortSignal): Promise<Uint8Array> => {
    const file = await open(reference, signal);
    const type = file.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (type === "text/html" && mediaType !== "text/html") {
      await file.body?.cancel();
      throw new StewardError("channel_failed", "Slack returned a sign-in page instead of the file.");
    }
    return readFileBody(file, maxBytes);
  };
}

async function openByBroker({ url, ...asked }: ServiceRequest, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(url, { ...asked, signal });
  if (answer.ok) return answer;
  const isProblem = answer.headers.get("content-type")?.startsWith(PROBLEM_TYPE) === true;
  const document: unknown = isProblem ? await answer.json() : await answer.body?.cancel();
  const { code, detail } = isRecord(document) ? document : {};
  throw new StewardError(
    isErrorCode(code) ? code : "channel_failed",
    typeof detail === "string" ? detail : `The broker answered ${answer.status}.`,
  );
}
