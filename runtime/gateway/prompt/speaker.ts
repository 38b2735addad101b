import {
  following,
  joined,
  label,
  type Prompt,
  prompt,
  speakerText,
  type SpeakerText,
  unmarked,
} from "./text.ts";

const LONGEST_NAME = 40;
const LONGEST_USERNAME = 40;
/** Ids of people and chats as the platforms make them: they begin with a digit or a capital, unlike the gateway's marks. */
const PERSON = /^-?[0-9A-Z][\w-]{0,23}$/;
/** Ids that the gateway itself gives to what asks without being a person. */
const PROGRAM = /^(?:schedule|hook):[\w .:-]{1,100}$/;

/** Author of a message, as the platform tells. */
export interface Speaker {
  /** The platform's id; absent in messages that were stored without one. */
  id?: string;
  /** Display name, which people choose: others may have the same. */
  name?: string;
  /** Name of the account, by which others mention it. */
  username?: string;
}

/** Something that was said in a group, not to the bot, or an edit of an earlier question. */
export interface Aside {
  speaker: Speaker;
  text: SpeakerText;
  /** The former text of an earlier question. */
  was?: SpeakerText;
}

/** Something that a message is about: see `Reference` of the channels. */
export interface Quoted {
  kind: "reply" | "quote" | "forward" | "edit";
  /** Absent if it is not known. */
  author?: Speaker | "bot";
  text: SpeakerText;
}

/** Message of somebody. */
export interface Said {
  text: SpeakerText;
  /** Messages that it is about, in order. */
  quoted?: readonly Quoted[];
  /** Absent in a direct chat, which has one person only. */
  speaker?: Speaker;
  /** Said since the bot's last answer, and not answered. */
  asides?: readonly Aside[];
}

const QUOTED = {
  reply: prompt`the next message answers this`,
  quote: prompt`the next message is about this part`,
  forward: prompt`passed on`,
  edit: prompt`edited, the next message takes its place`,
};

/** Returns a message as the model reads it: what was said meanwhile, what the message is about, then the message. */
export function saidText({ text, speaker, asides = [], quoted = [] }: Said): Prompt {
  const others = asides.filter(({ was }) => was === undefined);
  const head = prompt`[#context: said in this chat meanwhile, not to you]`;
  const edits = asides.filter(({ was }) => was !== undefined).flatMap(editText);
  const before = [
    ...(others.length > 0 ? [head, ...others.map((aside) => attributed(aside.speaker, aside.text))] : []),
    ...edits,
    ...quoted.map(quotedText),
  ];
  if (speaker !== undefined) return joined([...before, attributed(speaker, text)], "\n");
  if (before.length === 0) return unmarked(text);
  return joined([...before, text === "" ? prompt`` : prompt`[#person]: ${following(text)}`], "\n");
}

function editText({ speaker, text, was = speakerText("") }: Aside): Prompt[] {
  const mark = prompt`[#edited: an earlier message, from ${speakerMark(speaker)}]`;
  return [prompt`${mark}: ${following(text)}`, prompt`[#edited: it was]: ${following(was)}`];
}

function quotedText({ kind, author, text }: Quoted): Prompt {
  const from = author === "bot" ? prompt`you` : author && authorMark(author);
  return prompt`[#quoted: ${QUOTED[kind]}${from === undefined ? prompt`` : prompt`, from ${from}`}]: ${following(text)}`;
}

/** Returns an author whose id the platform keeps to itself by the name alone. */
function authorMark(author: Speaker): Prompt | undefined {
  if (author.id !== undefined) return speakerMark(author);
  const name = label(author.name ?? author.username ?? "", LONGEST_NAME);
  return name === "" ? undefined : name;
}

/** Returns a text behind the mark of its speaker. */
function attributed(speaker: Speaker, text: SpeakerText): Prompt {
  return prompt`[${speakerMark(speaker)}]: ${following(text)}`;
}

/**
 * Returns a speaker as `Ada Lovelace @ada #123456789`. The id is the platform's own: the same in every turn, never two
 * people's, and the one that `/whoami` tells and the config's lists of people use. Names can contain neither `#` nor `@`.
 */
function speakerMark({ id, name = "", username = "" }: Speaker): Prompt {
  const isNamed = name !== id && name !== username;
  const shown = isNamed ? label(name, LONGEST_NAME) : prompt``;
  const account = label(username.replace(/[^\w.-]/g, ""), LONGEST_USERNAME);
  const parts = [
    ...(shown === "" ? [] : [prompt`${shown} `]),
    ...(account === "" ? [] : [prompt`@${account} `]),
    prompt`#${speakerId(id)}`,
  ];
  return parts.reduce((all, part) => prompt`${all}${part}`);
}

/** No two ids become the same one: what is in no known form is hashed, behind a mark that no other id has. */
function speakerId(id: string | undefined): Prompt {
  if (id === undefined) return prompt`?`;
  if (PERSON.test(id) || PROGRAM.test(id)) return id as Prompt;
  // Loaded for such ids alone, not at every start.
  const { hash } = process.getBuiltinModule("node:crypto");
  return `~${hash("sha256", id, "base64url").slice(0, 22)}` as Prompt;
}
