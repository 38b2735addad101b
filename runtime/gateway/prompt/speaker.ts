import {
  afterMark,
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
/** Matches platform ids of people and chats, but not the gateway's own marks, such as `#gateway`. */
const PERSON = /^-?[0-9A-Z][\w-]{0,23}$/;
/** Matches ids that the gateway gives to senders that are not people. */
const PROGRAM = /^(?:schedule|hook):[\w .:-]{1,100}$/;

export interface Speaker {
  /** Platform's id; absent in old messages. */
  id?: string;
  /** Display name, which need not be unique. */
  name?: string;
  /** Account name, used to mention the person. */
  username?: string;
}

/** A group message that was not addressed to the bot, or an edit of an earlier question. */
export interface Aside {
  speaker: Speaker;
  text: SpeakerText;
  /** The previous text of an edited question. */
  was?: SpeakerText;
}

/** Message that another message refers to. */
export interface Quoted {
  kind: "reply" | "quote" | "forward" | "edit";
  /** Absent if unknown. */
  author?: Speaker | "bot";
  text: SpeakerText;
}

export interface Said {
  text: SpeakerText;
  quoted?: readonly Quoted[];
  /** Absent in direct chats. */
  speaker?: Speaker;
  /** Unanswered messages since the bot's last answer. */
  asides?: readonly Aside[];
}

const QUOTED = {
  reply: prompt`the next message answers this`,
  quote: prompt`the next message is about this part`,
  forward: prompt`passed on`,
  edit: prompt`edited, the next message takes its place`,
};

/** Returns a message as the model sees it: asides first, then quoted messages, then the message. */
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
  return joined([...before, text === "" ? prompt`` : prompt`[#person]: ${afterMark(text)}`], "\n");
}

function editText({ speaker, text, was = speakerText("") }: Aside): Prompt[] {
  const mark = prompt`[#edited: an earlier message, from ${speakerMark(speaker)}]`;
  return [prompt`${mark}: ${afterMark(text)}`, prompt`[#edited: it was]: ${afterMark(was)}`];
}

function quotedText({ kind, author, text }: Quoted): Prompt {
  const from = author === "bot" ? prompt`you` : author && authorMark(author);
  return prompt`[#quoted: ${QUOTED[kind]}${from === undefined ? prompt`` : prompt`, from ${from}`}]: ${afterMark(text)}`;
}

function authorMark(author: Speaker): Prompt | undefined {
  if (author.id !== undefined) return speakerMark(author);
  const name = label(author.name ?? author.username ?? "", LONGEST_NAME);
  return name === "" ? undefined : name;
}

function attributed(speaker: Speaker, text: SpeakerText): Prompt {
  return prompt`[${speakerMark(speaker)}]: ${afterMark(text)}`;
}

/**
 * Returns a speaker's names and platform id, as in `Ada Lovelace @ada #123456789`. Removes `#` and `@` from `name`
 * and `username`.
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

/**
 * Returns a speaker's id for the prompt. Replaces an id of unknown form with `~` and its hash; no other id begins
 * with `~`.
 */
function speakerId(id: string | undefined): Prompt {
  if (id === undefined) return prompt`?`;
  if (PERSON.test(id) || PROGRAM.test(id)) return id as Prompt;
  // Load the module only if needed, to keep the start fast.
  const { hash } = process.getBuiltinModule("node:crypto");
  return `~${hash("sha256", id, "base64url").slice(0, 22)}` as Prompt;
}
