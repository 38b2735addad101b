import type { Delivery, NameKind } from "../../contract/delivery.ts";
import { displayName } from "../../shared/display-name.ts";
import { isRecord } from "../../shared/json.ts";
import type { Sighting } from "../ports.ts";
import { placeOf } from "../tenants/place.ts";

/** Sender and place of an event, as keys of `NameDirectory`. */
export interface EventPeople {
  sender?: string | undefined;
  place?: string | undefined;
  /** Sender, place and the place's parent, each with its name if the event contains the name. */
  sightings: Sighting[];
}

type Fields = Record<string, unknown>;

interface Names {
  sender?: unknown;
  place?: unknown;
  kind: NameKind;
}

/** Returns an event's sender and chat. Their names are usually missing in Slack events. */
export function peopleOf(event: Pick<Delivery, "platform" | "payload">): EventPeople {
  const { platform, payload } = event;
  const at = placeOf(event);
  if (at === undefined) return { sightings: [] };
  const names = NAMES[platform](payload);
  const keyOf = (id: string): string => `${platform}:${id}`;
  const sender = at.sender === undefined ? undefined : keyOf(at.sender);
  const place = keyOf(at.chat.chat);
  const sightings: Sighting[] = [];
  if (sender !== undefined) sightings.push({ key: sender, kind: "person", name: displayName(names.sender) });
  if (!at.direct) sightings.push({ key: place, kind: names.kind, name: displayName(names.place) });
  else if (sender !== undefined && sender !== place)
    sightings.push({ key: place, kind: "person", personOf: sender });
  if (!at.direct && at.group !== at.chat.chat) sightings.push({ key: keyOf(at.group), kind: "group" });
  return { sender, place, sightings };
}

const NAMES: Record<Delivery["platform"], (payload: Fields) => Names> = {
  /** https://docs.slack.dev/reference/events/message: `user_profile` is optional. */
  slack({ event, user, channel }) {
    const { user_profile: profile } = fieldsOf(event);
    const { display_name: shown, real_name: real, name } = fieldsOf(profile ?? user);
    return { sender: shown || real || name, place: fieldsOf(channel)["name"], kind: "channel" };
  },
  /** https://core.telegram.org/bots/api#user, https://core.telegram.org/bots/api#chat */
  telegram(update) {
    const press = fieldsOf(update["callback_query"]);
    const message = fieldsOf(update["message"] ?? update["edited_message"] ?? press["message"]);
    const { first_name: first, last_name: last, username } = fieldsOf(press["from"] ?? message["from"]);
    const whole = [first, last].filter((part) => typeof part === "string").join(" ");
    return {
      sender: displayName(whole) ?? username,
      place: fieldsOf(message["chat"])["title"],
      kind: "group",
    };
  },
  /** https://docs.discord.com/developers/resources/user, https://docs.discord.com/developers/resources/channel */
  discord(payload) {
    const { member, user, author, channel } = payload["t"] === undefined ? payload : fieldsOf(payload["d"]);
    const { nick, user: inner } = fieldsOf(member);
    const { global_name: shown, username } = fieldsOf(inner ?? user ?? author);
    return { sender: nick ?? shown ?? username, place: fieldsOf(channel)["name"], kind: "channel" };
  },
};

const LONGEST_EXCERPT = 140;

/** Returns the beginning of an event's text as one line. */
export function excerptOf({ platform, payload }: Pick<Delivery, "platform" | "payload">): string | undefined {
  const text = TEXTS[platform](payload);
  const line = displayName(text);
  if (line === undefined) return undefined;
  return line.length > LONGEST_EXCERPT ? `${line.slice(0, LONGEST_EXCERPT - 1).toWellFormed()}…` : line;
}

const TEXTS: Record<Delivery["platform"], (payload: Fields) => unknown> = {
  slack({ event }) {
    const { text, message } = fieldsOf(event);
    return fieldsOf(message)["text"] ?? text;
  },
  telegram(update) {
    const { text, caption } = fieldsOf(update["message"] ?? update["edited_message"]);
    return text ?? caption;
  },
  /**
   * Returns the text of a message. For a command, returns the value of the first option or, without such a value, the
   * command's name:
   * https://docs.discord.com/developers/interactions/receiving-and-responding
   */
  discord({ t: kind, d: message, data }) {
    if (kind !== undefined) return fieldsOf(message)["content"];
    const { options, name } = fieldsOf(data);
    return (Array.isArray(options) ? fieldsOf(options[0])["value"] : undefined) ?? name;
  },
};

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
