import { strToU8, zipSync } from "fflate";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { readConfigText } from "../../../runtime/contract/config/text.ts";
import { networkOf } from "../../../runtime/contract/client.ts";
import { jsonProblem, repeatedKeys } from "../../../runtime/contract/config/json-text.ts";
import { shellWord } from "../../../runtime/contract/operator-commands.ts";
import { formProblem, ownNameProblem } from "../../../runtime/contract/variables.ts";
import { SERVICE_OPERATIONS } from "../../../runtime/contract/service-operations.ts";
import {
  isJson,
  parseJsonObject,
  readServiceBody,
  readJsonBody,
  readJsonText,
  readBodyText,
} from "../../../runtime/edge/admission/body.ts";
import { readInteraction } from "../../../runtime/edge/admission/discord.ts";
import { telegramDelivery } from "../../../runtime/edge/admission/telegram.ts";
import { chatOfDelivery } from "../../../runtime/edge/ledger/chats.ts";
import { excerptOf, peopleOf } from "../../../runtime/edge/ledger/people.ts";
import { displayName, hueOf } from "../../../runtime/shared/display-name.ts";
import { shortHash } from "../../../runtime/shared/short-hash.ts";
import { accessIdentity } from "../../../runtime/edge/identity.ts";
import {
  inputForm,
  readResult,
  serversInput,
  toolName,
} from "../../../runtime/gateway/agent/mcp/tool-form.ts";
import { readableText } from "../../../runtime/gateway/agent/tools/readable-text.ts";
import {
  channelAccess,
  pairingText,
  unknownGuildText,
  unknownSenderText,
} from "../../../runtime/shared/channel-access.ts";
import { textOfBlocks } from "../../../runtime/gateway/channels/blocks.ts";
import { sessionOf, unknownFields } from "../../../runtime/gateway/channels/channel.ts";
import { readDiscordEvent } from "../../../runtime/gateway/channels/discord/inbound.ts";
import {
  readFile as readDiscordFile,
  readFiles as readDiscordFiles,
  readReferences,
  readWords as readDiscordWords,
  senderOf,
} from "../../../runtime/gateway/channels/discord/message.ts";
import { attachmentKind, fetchFile } from "../../../runtime/gateway/channels/files.ts";
import {
  readSlackEvent,
  readFiles,
  readShared,
  readWords,
} from "../../../runtime/gateway/channels/slack/inbound.ts";
import {
  mentionsUser,
  readSlackText,
  splitForSlack,
  withoutMention,
  writeMrkdwn,
} from "../../../runtime/gateway/channels/slack/mrkdwn.ts";
import { parseMarkdown } from "../../../runtime/gateway/markdown/parse.ts";
import { splitMarkdown } from "../../../runtime/gateway/markdown/split.ts";
import { splitForDiscord, writeDiscordText } from "../../../runtime/gateway/channels/discord/text.ts";
import { readAddressedText, expandLinks } from "../../../runtime/gateway/channels/telegram/addressed.ts";
import {
  asForwarded,
  personOf,
  readRepliedTo,
} from "../../../runtime/gateway/channels/telegram/references.ts";
import { readTelegramUpdate } from "../../../runtime/gateway/channels/telegram/inbound.ts";
import { createRedaction } from "../../../runtime/gateway/replay/redact.ts";
import { isNotice, readAttachments, readOthers } from "../../../runtime/gateway/channels/telegram/message.ts";
import { splitForTelegram, writeTelegramHtml } from "../../../runtime/gateway/channels/telegram/text.ts";
import { UNMOVED } from "../../runtime/support/telegram.ts";
import { readCommand } from "../../../runtime/gateway/commands.ts";
import { contextText } from "../../../runtime/gateway/inbox/attachments.ts";
import { waitText, givenUpText } from "../../../runtime/gateway/inbox/notices.ts";
import { officeText } from "../../../runtime/gateway/media/documents.ts";
import { imageFacts } from "../../../runtime/gateway/media/image.ts";
import { addressOf } from "../../../runtime/gateway/models/create.ts";
import { testModel } from "../../../runtime/gateway/models/test-question.ts";
import {
  answerInterruptedError,
  errorKinds,
  messageOf,
  providerFailure,
  readProviderError,
} from "../../../runtime/gateway/models/provider-errors.ts";
import { fromChatCompletion, fromMessage } from "../../../runtime/gateway/models/event-stream.ts";
import { createReasoningFilter } from "../../../runtime/gateway/models/reasoning.ts";
import { operatorText } from "../../../runtime/gateway/prompt/operator.ts";
import { saidText } from "../../../runtime/gateway/prompt/speaker.ts";
import {
  afterMark,
  indented,
  label,
  modelText,
  oneLine,
  modelPrompt,
  remark,
  speakerText,
  toolText,
  unmarked,
  verbatim,
} from "../../../runtime/gateway/prompt/text.ts";
import { readAsides } from "../../../runtime/gateway/sessions/context.ts";
import { isRecord, parseJson } from "../../../runtime/shared/json.ts";
import { readBytes } from "../../../runtime/shared/read-bytes.ts";
import { escapeControlCharacters, writeText } from "../../../runtime/shared/terminal.ts";
import { openSlackFile } from "../../../runtime/shared/slack-file.ts";
import { appendLines, readableLine, readableLog } from "../../../runtime/shared/log.ts";
import {
  approvePairing,
  grantedRole,
  grantRole,
  type PairingList,
  rejectPairing,
  revokeAccess,
} from "../../../runtime/shared/pairing-list.ts";
import { priceOf, publishedPrice } from "../../../runtime/shared/prices.ts";
import {
  createRedactor,
  looksLikeSecret,
  looksLikeSecretName,
  redactValue,
} from "../../../runtime/shared/redact.ts";
import { retryAfterMs } from "../../../runtime/shared/retry-after.ts";
import { table } from "../../../runtime/shared/table.ts";
import { bearerToken, isSameToken } from "../../../runtime/shared/token.ts";
import { maskValues, withoutSecrets } from "../../../runtime/supervisor/config-secrets.ts";
import { readFailure } from "../../../runtime/supervisor/run.ts";
import { standInElement, withDocument } from "../../support/dom.ts";

/** A function of the pages' scripts: their types are a browser's, which this program has none of. */
async function pageFunction(script: string, name: string): Promise<(...given: unknown[]) => unknown> {
  const file = new URL(`../../../runtime/edge/client/${script}.ts`, import.meta.url).href;
  const found: unknown = (await import(file))[name];
  if (typeof found !== "function") throw new Error(`${script}.ts has no ${name}`);
  return (...given) => withDocument(() => found(...given));
}

const browserName = await pageFunction("device", "displayName");
const placeAt = await pageFunction("config-schema", "placeAt");
const schemasAt = await pageFunction("config-schema", "schemasAt");
const helpAt = await pageFunction("config-schema", "helpAt");
const element = await pageFunction("dom", "element");
const button = await pageFunction("dom", "button");
const iconButton = await pageFunction("dom", "iconButton");
const onClick = await pageFunction("dom", "onClick");
const colour = await pageFunction("highlight", "colour");
const render = await pageFunction("markdown", "render");
const redact = createRedactor({ SLACK_BOT_TOKEN: "xoxb-a-token-of-this-test" });
const access = channelAccess(
  { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groupAllowFrom: [], groups: {}, operators: [] },
  { granted: () => undefined },
);
const checked = checkConfig({});
if (!checked.ok) throw new Error("not a config");
const { config } = checked;
const bot = { id: "1", username: "steward_bot" };
const reading = { reference: "a/b", now: 0, redact };
const chat = { id: 1, type: "private" };
const from = { id: 2, first_name: "A" };
const PIECE = 12;

/** A text as many small ones, so that what is done for each of them counts. */
const pieces = (text: string, length = PIECE): string[] =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
    text.slice(at * length, (at + 1) * length),
  );

/** A pairing list whose requests and ids are a text's pieces. */
const pairingsOf = (text: string): PairingList => {
  const [ids, at] = [pieces(text), new Date(0).toISOString()];
  const requests = ids.map((id) => ({ id, code: id, createdAt: at, lastSeenAt: at }));
  return { requests, allowFrom: ids, operators: ids };
};

const shown = (text: string): void => writeText({ write: () => true }, text);

/** A request with a text as its body. */
const posted = (body: string): Request =>
  new Request("https://steward.example/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });

/** A value in so many arrays. */
const nested = (value: unknown, depth: number): unknown => (depth === 0 ? value : [nested(value, depth - 1)]);

const telegram = (message: object): unknown =>
  readTelegramUpdate(
    { update_id: 1, message: { message_id: 1, chat, from, ...message } },
    { access, bot, moves: UNMOVED, mediaMaxBytes: 1 },
  );

const slack = (event: object, authorizations: object[] = [{ user_id: "U1" }]): unknown =>
  readSlackEvent(
    {
      type: "event_callback",
      authorizations,
      event: { type: "app_mention", channel: "C1", channel_type: "channel", user: "U2", ts: "1.1", ...event },
    },
    access,
  );

const interaction = { id: "1", application_id: "1", token: "t", channel_id: "1" };

const discord = (text: string): unknown => [
  readDiscordEvent(
    {
      ...interaction,
      type: 2,
      user: { id: "2", username: text },
      data: { name: "ask", options: [{ name: "text", value: text }] },
    },
    access,
  ),
  readDiscordEvent({ t: "MESSAGE_CREATE", bot: "1", d: discordMessage(text) }, access),
];

/** A message whose words, names, files and answered message are that text. */
const discordMessage = (text: string) => {
  const [author, mentions] = [
    { id: "2", username: text },
    pieces(text).map((username) => ({ id: "3", username })),
  ];
  const content = {
    content: text,
    author,
    mentions,
    attachments: pieces(text).map((name) => ({ id: "4", filename: name, content_type: name, url: name })),
    sticker_items: pieces(text).map((name) => ({ id: "5", name })),
    poll: { question: { text }, answers: pieces(text).map((one) => ({ poll_media: { text: one } })) },
  };
  return { ...content, id: "6", channel_id: "7", referenced_message: content };
};

/** Every entity of a kind that a text can have, in pieces and over all of it. */
const entities = (text: string): unknown => {
  const kinds = ["mention", "text_mention", "bot_command", "text_link"];
  const list = pieces(text).flatMap((_, at) => {
    const type = kinds[at % 4] ?? "";
    const piece = { type, offset: at * PIECE, length: PIECE, url: "https://a.example" };
    return at % 50 === 0 ? [piece, { type, offset: 0, length: text.length }] : piece;
  });
  return readAddressedText({ message_id: 1, chat, from, text, entities: list } as never, bot);
};

const caught = async (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);

/**
 * The exported functions that read text from outside: what people, platforms, models and pages wrote, and what an
 * operator pasted. By file below `runtime/` and name; each runs on one text, and is awaited if it answers later.
 */
export const READERS: Readonly<Record<string, Readonly<Record<string, (text: string) => unknown>>>> = {
  "contract/client.ts": { networkOf },
  "contract/config/text.ts": { readConfigText: (text) => readConfigText(text, {}) },
  "contract/config/json-text.ts": {
    jsonProblem,
    repeatedKeys: (text) => caught((async () => repeatedKeys(text))()),
  },
  "contract/operator-commands.ts": { shellWord },
  "contract/variables.ts": { formProblem, ownNameProblem },
  "edge/admission/body.ts": {
    isJson,
    parseJsonObject: (text) => caught((async () => parseJsonObject(text))()),
    readServiceBody: async (text) => {
      const operation = SERVICE_OPERATIONS["slack/chat.postMessage"];
      const fields = { channel: "C1", text, unfurl_links: "false", unfurl_media: "false" };
      await caught(readServiceBody(posted(String(new URLSearchParams(fields))), operation));
      await caught(readServiceBody(posted(text), operation));
    },
    readJsonBody: (text) => caught(readJsonBody(posted(text))),
    readJsonText: (text) => caught(readJsonText(posted(text))),
    readBodyText: (text) => caught(readBodyText(posted(text))),
  },
  "edge/admission/discord.ts": {
    readInteraction: (text) => {
      readInteraction({ ...interaction, type: 2, data: { name: text, type: 1 } }, 0);
      readInteraction({ ...interaction, type: 3, data: { component_type: 2, custom_id: text } }, 0);
    },
  },
  "edge/admission/telegram.ts": {
    telegramDelivery: (text) => telegramDelivery({ update_id: 1, message: { chat, text } }, 0),
  },
  "edge/client/device.ts": { displayName: browserName },
  "edge/client/dom.ts": {
    element: (id) => caught((async () => element(id, Object))()),
    // The stand-in document knows too little to end these; they read the text before.
    button: (text) => caught((async () => button(text, () => {}))()),
    iconButton: (text) => caught((async () => iconButton("edit", text, () => {}))()),
    onClick: (text) => caught((async () => onClick(text, Object, () => {}))()),
  },
  "edge/client/config-schema.ts": {
    placeAt: (text) => placeAt(text, text.length),
    schemasAt: (text) => schemasAt({ additionalProperties: { type: "string" } }, text.split(".")),
    helpAt: (text) => helpAt({ additionalProperties: { type: "string" } }, text, text.length),
  },
  "edge/client/highlight.ts": { colour: (text) => caught((async () => colour(text, "ts"))()) },
  "edge/client/markdown.ts": {
    render: (text) => {
      render(standInElement(), text);
      render(standInElement(), text, parseMarkdown(text));
    },
  },
  "edge/identity.ts": {
    accessIdentity: (text) => caught((async () => accessIdentity({ teamDomain: text, audience: "a" }))()),
  },
  "edge/ledger/people.ts": {
    peopleOf: (text) => [
      peopleOf({ platform: "telegram", payload: { message: { chat, from: { id: 1, first_name: text } } } }),
      peopleOf({ platform: "slack", payload: { event: { channel: "C1", user: text } } }),
      peopleOf({ platform: "discord", payload: { ...interaction, member: { nick: text } } }),
    ],
    excerptOf: (text) => excerptOf({ platform: "telegram", payload: { message: { text } } }),
  },
  "shared/display-name.ts": { displayName, hueOf },
  "shared/short-hash.ts": { shortHash },
  "edge/ledger/chats.ts": {
    chatOfDelivery: (text) =>
      (["slack", "telegram"] as const).map((platform) =>
        chatOfDelivery({ id: "1", platform, conversation: text, receivedAt: 0, payload: {} }),
      ),
  },
  "gateway/agent/tools/readable-text.ts": { readableText },
  "gateway/agent/mcp/tool-form.ts": {
    inputForm: (text) =>
      inputForm({ properties: { [text]: {} }, anyOf: pieces(text).map((name) => ({ required: [name] })) }),
    readResult: (text) =>
      readResult({
        content: pieces(text).map((piece) => ({ type: "text", text: piece })),
        structuredContent: text,
      }),
    serversInput: (text) => serversInput({ [text]: text }, new Map([[text, "a"]])),
    toolName: (text) => toolName(text, text),
  },
  "gateway/channels/blocks.ts": {
    textOfBlocks: (text) => {
      const small = pieces(text, 1_000).map((piece) => ({ type: "text", text: piece }));
      textOfBlocks([{ type: "rich_text", elements: small }]);
      textOfBlocks([{ type: "list", items: small.map((item) => [item]) }]);
      textOfBlocks(nested(text, 190));
    },
  },
  "gateway/channels/channel.ts": {
    sessionOf: (text) => sessionOf("slack", { chat: text }),
    unknownFields: (text) =>
      unknownFields(Object.fromEntries(pieces(text).map((one) => [one, 1])), "x", { read: {}, left: [] }),
  },
  "gateway/channels/discord/inbound.ts": { readDiscordEvent: discord },
  "gateway/channels/discord/message.ts": {
    readFile: (text) => discordMessage(text).attachments.map(readDiscordFile),
    readFiles: (text) => readDiscordFiles(discordMessage(text)),
    readReferences: (text) => readReferences(discordMessage(text), "1"),
    readWords: (text) => readDiscordWords(discordMessage(text), "1"),
    senderOf: (text) => senderOf({ id: "1", username: text }, text),
  },
  "gateway/channels/files.ts": {
    attachmentKind,
    fetchFile: (text) =>
      caught(
        fetchFile(`https://a.example/${text}`, {
          allowed: () => false,
          maxBytes: 1,
          signal: new AbortController().signal,
        }),
      ),
  },
  "gateway/channels/discord/text.ts": {
    writeDiscordText,
    splitForDiscord: (text) => splitForDiscord(text.slice(0, 30_000), 2_000),
  },
  "gateway/channels/slack/inbound.ts": {
    readSlackEvent: (text) => {
      slack({ text });
      slack({ text }, []);
      slack({ text: "", blocks: [{ type: "section", text: { type: "mrkdwn", text } }] });
      slack({ type: "message", text });
    },
    readFiles: (text) => readFiles(pieces(text).map((name) => ({ id: "1", name }))),
    readShared: (text) => {
      readShared([{ is_share: true, text }]);
      readShared(pieces(text).map((fallback) => ({ is_share: true, fallback, author_name: fallback })));
    },
    readWords: (text) =>
      readWords(
        { type: "message", text, files: [{ id: "1", mode: "snippet", preview: text }] },
        (said) => said,
      ),
  },
  "gateway/channels/slack/mrkdwn.ts": {
    mentionsUser: (text) => mentionsUser(text, "U1"),
    readSlackText,
    splitForSlack: (text) => splitForSlack(text.slice(0, 30_000), 4_000, true),
    withoutMention: (text) => [withoutMention(text, "U1"), withoutMention(text, undefined)],
    writeMrkdwn,
  },
  "gateway/channels/telegram/references.ts": {
    personOf: (text) => personOf({ id: 1, first_name: text, username: text }),
    readRepliedTo: (text) => {
      readRepliedTo({ message_id: 1, chat, quote: { text } }, bot, 1);
      readRepliedTo(
        { message_id: 1, chat, reply_to_message: { text, sender_chat: { id: 1, title: text } } },
        bot,
        1,
      );
      readRepliedTo(
        {
          message_id: 1,
          chat,
          external_reply: { origin: { sender_user_name: text }, game: { title: text } },
        },
        bot,
        1,
      );
    },
    asForwarded: (text) => asForwarded({ text, attachments: [] }, { sender_user_name: text }, bot),
  },
  "gateway/channels/telegram/addressed.ts": {
    readAddressedText: entities,
    expandLinks: (text) =>
      expandLinks({ text, entities: [{ type: "text_link", offset: 0, length: 1, url: text }] }),
  },
  "gateway/channels/telegram/inbound.ts": {
    readTelegramUpdate: (text) => {
      telegram({ text });
      telegram({ rich_message: { blocks: [{ type: "paragraph", text }] } });
    },
  },
  "gateway/channels/telegram/message.ts": {
    isNotice: (text) => isNotice({ [text]: 1, ...Object.fromEntries(pieces(text).map((one) => [one, 1])) }),
    readAttachments: (text) =>
      readAttachments({ chat, document: { file_id: "1", mime_type: text, file_name: text } } as never, 1),
    readOthers: (text) =>
      readOthers({
        chat,
        poll: { question: text, options: pieces(text).map((one) => ({ text: one })) },
      } as never),
  },
  "gateway/channels/telegram/text.ts": {
    writeTelegramHtml,
    splitForTelegram: (text) => splitForTelegram(text.slice(0, 30_000), 4_000),
  },
  "gateway/commands.ts": { readCommand },
  "gateway/inbox/attachments.ts": {
    contextText: (text) => {
      const attachments = [{ kind: "file" as const, reference: "1", name: text }];
      const references = pieces(text).map((one) => ({ kind: "reply" as const, text: one, attachments: [] }));
      contextText({ text, attachments, references });
    },
  },
  "gateway/inbox/notices.ts": { givenUpText, waitText: (text) => waitText(text, 1) },
  "gateway/markdown/parse.ts": { parseMarkdown },
  "gateway/markdown/split.ts": {
    splitMarkdown: (text) => [splitMarkdown(text, 2_000), splitMarkdown(text.slice(0, 4_000), 100)],
  },
  "gateway/models/create.ts": { addressOf: (text) => addressOf(text, config, {}) },
  "gateway/models/event-stream.ts": {
    fromChatCompletion: (text) => fromChatCompletion({ choices: [{ message: { content: text } }] }),
    fromMessage: (text) =>
      fromMessage({ type: "message", content: pieces(text).map((one) => ({ type: "text", text: one })) }),
  },
  "gateway/media/documents.ts": {
    officeText: (text) => officeText(zipSync({ "word/document.xml": strToU8(text) })),
  },
  "gateway/media/image.ts": { imageFacts: (text) => imageFacts(Buffer.from(text, "latin1")) },
  "gateway/models/provider-errors.ts": {
    messageOf: (message) => messageOf({ error: { message } }),
    answerInterruptedError: (text) => answerInterruptedError(text, { how: text }),
    errorKinds: (text) => errorKinds({ error: { code: text, type: text } }),
    providerFailure: (text) => providerFailure({ message: text, kinds: pieces(text) }, reading),
    readProviderError: (text) =>
      readProviderError({ message: text, statusCode: 400, responseBody: text, responseHeaders: {} }, reading),
  },
  "gateway/models/test-question.ts": {
    testModel: (text) => testModel({ answer: async () => ({ text, tokens: 1 }) as never }, text, () => 0),
  },
  "gateway/prompt/speaker.ts": {
    saidText: (text) => {
      const quoted = pieces(text, 1_000).map((one) => ({ kind: "quote" as const, text: speakerText(one) }));
      const edits = [{ speaker: {}, text: speakerText(text), was: speakerText(text) }];
      saidText({ text: speakerText(text), quoted, asides: edits });
      const speaker = { id: text, name: text, username: text };
      const asides = pieces(text, 1_000).map((piece) => ({
        speaker: { name: piece },
        text: speakerText(piece),
      }));
      saidText({ text: speakerText(text), speaker, asides });
      saidText({ text: speakerText(text) });
    },
  },
  "gateway/models/reasoning.ts": {
    createReasoningFilter: (text) => {
      const filter = createReasoningFilter();
      for (const piece of pieces(text)) filter.push(piece);
      filter.end();
    },
  },
  "gateway/prompt/text.ts": {
    afterMark: (text) => afterMark(toolText(text)),
    indented: (text) => indented(toolText(text)),
    label: (text) => label(text, 40),
    oneLine: (text) => oneLine(text, 200),
    modelPrompt: (text) => modelPrompt(modelText(text)),
    remark: (text) => remark("file", text, ...pieces(text)),
    unmarked: (text) => unmarked(speakerText(text)),
    verbatim: (text) => verbatim(operatorText(text)),
  },
  "gateway/replay/redact.ts": {
    createRedaction: (text) => {
      const redaction = createRedaction(Buffer.from("key"));
      redaction.payload("telegram", { message: { text, [text]: text } });
      redaction.payload("slack", { event: { text, mimetype: `text/${text}` } });
    },
  },
  "gateway/sessions/context.ts": {
    readAsides: (text) => readAsides(`(Said in this chat meanwhile:)\n${text}`),
  },
  "shared/channel-access.ts": {
    pairingText: (text) => pairingText("slack", text, "CODE"),
    unknownGuildText,
    unknownSenderText: (text) => unknownSenderText("slack", text),
  },
  "shared/json.ts": { isRecord, parseJson },
  "shared/log.ts": {
    readableLine,
    appendLines: (text) => appendLines([text], [text]),
    readableLog: (text) => readableLog([text], { level: "debug", text: "" }),
  },
  "shared/pairing-list.ts": {
    approvePairing: (text) => approvePairing(pairingsOf(text), text, "operator", 0),
    grantedRole: (text) => grantedRole(pairingsOf(text), text),
    grantRole: (text) => grantRole(pairingsOf(text), text, "operator", 0),
    rejectPairing: (text) => rejectPairing(pairingsOf(text), text, 0),
    revokeAccess: (text) => revokeAccess(pairingsOf(text), text),
  },
  "shared/prices.ts": { priceOf: (text) => priceOf(text, {}), publishedPrice },
  "shared/read-bytes.ts": { readBytes: (text) => readBytes(posted(text), 2 * text.length) },
  "shared/redact.ts": {
    createRedactor: redact,
    looksLikeSecret: (text) => looksLikeSecret(text),
    looksLikeSecretName,
    redactValue: (text) =>
      redactValue({ url: `https://${text}`, args: [text, text], list: pieces(text) }, redact),
  },
  "shared/retry-after.ts": { retryAfterMs: (text) => retryAfterMs(text, 0) },
  "shared/slack-file.ts": {
    openSlackFile: (text) =>
      caught(
        openSlackFile("F1", {
          key: "k",
          environment: {},
          fetch: async () =>
            Response.json({ ok: true, file: { id: "F1", url_private: `https://files.slack.com/${text}` } }),
          signal: new AbortController().signal,
        }),
      ),
  },
  "shared/table.ts": {
    table: (text) =>
      table(
        ["A", "B"],
        pieces(text).map((piece) => [piece, piece]),
      ),
  },
  "shared/terminal.ts": {
    escapeControlCharacters,
    writeText: shown,
    // Both hand a text to writeText, which must not write this test's to its terminal.
    print: shown,
    printError: shown,
  },
  "shared/token.ts": { bearerToken, isSameToken: (text) => isSameToken(text, `${text}x`) },
  "supervisor/config-secrets.ts": {
    maskValues: (text) => maskValues(text, (same) => same),
    withoutSecrets: (text) => withoutSecrets(text, {}),
  },
  "supervisor/run.ts": {
    readFailure: (text) => readFailure({ code: 1, signal: null, stderr: [text, ...pieces(text)] } as never),
  },
};
