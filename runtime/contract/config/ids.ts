import * as z from "zod/mini";
import { type Platform, platformSchema } from "../delivery.ts";
import { textUpTo } from "./values.ts";

/**
 * Format of a platform's ids: `form` is a regular expression without anchors, `words` a sentence for error messages.
 */
export interface IdForm {
  form: string;
  words: string;
}

/**
 * Formats of user ids. https://core.telegram.org/bots/api#user, https://docs.slack.dev/reference/objects/user-object
 */
export const USER_IDS: Readonly<Record<Platform, IdForm>> = {
  telegram: { form: "\\d{1,20}", words: "Telegram's user ids are numbers, such as 4242" },
  slack: { form: "[UW][A-Z0-9]{1,31}", words: "Slack's user ids look like U024BE7LH" },
  discord: { form: "\\d{1,20}", words: "Discord's ids are numbers, such as 290926798626357999" },
};

/** Formats of group ids (on Discord, server ids). https://core.telegram.org/bots/api#chat */
export const GROUP_IDS: Readonly<Record<Platform, IdForm>> = {
  telegram: {
    form: "-\\d{1,20}",
    words: "Telegram's group ids are negative, such as -1001234567890",
  },
  slack: { form: "[CDG][A-Z0-9]{1,31}", words: "Slack's channel ids look like C024BE91L" },
  // https://discord.com/developers/docs/reference#snowflakes
  discord: { form: "\\d{1,20}", words: "Discord's ids are numbers, such as 290926798626357999" },
};

/** Formats of ids of chats that can receive messages: groups and direct chats. */
const CHAT_IDS: Readonly<Record<Platform, IdForm>> = {
  telegram: { form: "-?\\d{1,20}", words: "Telegram's chat ids are numbers, such as -1001234567890" },
  slack: { form: "[CDGUW][A-Z0-9]{1,31}", words: "Slack's chat ids look like C024BE91L" },
  discord: { form: "\\d{1,20}", words: "Discord's channel ids are numbers, such as 290926798626357999" },
};

/** Schema that accepts an id, or `*` for everyone. Refuses other strings, because they cannot match anyone. */
export function idOrAll({ form, words }: IdForm) {
  return z.string().check(
    z.regex(new RegExp(`^(?:\\*|${form})$`), {
      error: ({ input }) => `${JSON.stringify(input)} matches nobody: ${words}`,
    }),
  );
}

/**
 * Formats of operators' ids. In the web chat, an operator's id is the browser's id: the SHA-256 of the browser's
 * public key.
 */
const OPERATOR_IDS = [
  ...Object.entries(USER_IDS).map(([name, { form }]) => `${name}:${form}`),
  "web:[0-9a-f]{64}",
];

export const operatorId = z.string().check(
  z.regex(new RegExp(`^(?:${OPERATOR_IDS.join("|")})$`), {
    error: ({ input }) =>
      `${JSON.stringify(input)} names nobody: write <platform>:<user id>, such as telegram:4242`,
  }),
);

export function isUserId(platform: Platform, text: string): boolean {
  return new RegExp(`^(?:${USER_IDS[platform].form})$`).test(text);
}

type Place = ReturnType<typeof place>;

const place = (platform: Platform) =>
  z.strictObject({
    platform: z.literal(platform),
    chat: z.string().check(
      z.regex(new RegExp(`^(?:${CHAT_IDS[platform].form})$`), {
        error: ({ input }) => `${JSON.stringify(input)} is not a chat id: ${CHAT_IDS[platform].words}`,
      }),
    ),
    thread: z.optional(textUpTo(128)),
  });

const places = platformSchema.options.map(place) as [Place, ...Place[]];

/** Schema of the chats that a group or a schedule may write to, in addition to its own chat. */
export const sendElsewhere = z.array(z.discriminatedUnion("platform", places)).check(z.maxLength(100));
