/** Workspace and bot, as `auth.test` returns them. */
export const WORKSPACE = {
  team: "Rehearsal",
  team_id: "T0REHEARSAL",
  user: "steward",
  user_id: "U0STEWARD",
};

/** https://docs.slack.dev/reference/objects/user-object */
export const PERSON = {
  id: "U0PERSON",
  name: "robin",
  profile: { display_name: "Robin", real_name: "Robin Doe" },
};

export const CHANNEL = { id: "C0REHEARSAL", name: "rehearsal" };

export interface SlackEvent {
  type: string;
  subtype?: string;
  user: string;
  text: string;
  ts: string;
  channel: string;
  channel_type?: string;
  thread_ts?: string;
  files?: readonly { name: string }[];
}

/** https://docs.slack.dev/reference/events/app_mention */
export function mention(
  text: string,
  { id = crypto.randomUUID(), chat = CHANNEL.id }: { id?: string; chat?: string } = {},
) {
  return said(`<@${WORKSPACE.user_id}> ${text}`, { type: "app_mention", channel: chat }, id);
}

/** A channel message without a mention: https://docs.slack.dev/reference/events/message.channels */
export function overheard(text: string) {
  return said(text, { type: "message", channel: CHANNEL.id, channel_type: "channel" });
}

/** A direct message: https://docs.slack.dev/reference/events/message.im */
export function direct(text: string) {
  return said(text, { type: "message", channel: "D0REHEARSAL", channel_type: "im" });
}

function said(
  text: string,
  { type, ...place }: Pick<SlackEvent, "type" | "channel" | "channel_type">,
  id: string = crypto.randomUUID(),
) {
  const event: SlackEvent = { type, user: PERSON.id, text, ts: timestamp(), ...place };
  return callback(id, event);
}

/**
 * Returns Slack's event for an edited message (https://docs.slack.dev/reference/events/message/message_changed). If
 * the message mentions the bot, returns an `app_mention` with the field `edited` instead:
 * https://github.com/slackapi/java-slack-sdk/pull/755
 */
export function edit({ event }: { event: SlackEvent }, text: string) {
  const { channel, channel_type, ...former } = event;
  const ts = timestamp();
  const edited = { user: former.user, ts };
  if (event.type === "app_mention") {
    const mentioned = `<@${WORKSPACE.user_id}> ${text}`;
    return callback(crypto.randomUUID(), { ...event, text: mentioned, edited });
  }
  return callback(crypto.randomUUID(), {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel,
    channel_type,
    ts,
    message: { ...former, text, edited },
    previous_message: former,
  });
}

/** https://docs.slack.dev/reference/events/message/message_deleted */
export function remove({ event }: { event: SlackEvent }) {
  const { channel, channel_type, ...former } = event;
  return callback(crypto.randomUUID(), {
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel,
    channel_type,
    ts: timestamp(),
    deleted_ts: former.ts,
    previous_message: former,
  });
}

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
export function pressOf(
  { channel, ts, threadTs, text }: { channel: string; ts: string; threadTs?: string; text: string },
  value: string,
) {
  return {
    type: "block_actions",
    team: { id: WORKSPACE.team_id },
    user: { id: PERSON.id, username: PERSON.name },
    channel: { id: channel },
    message: { ts, text, ...(threadTs !== undefined && { thread_ts: threadTs }) },
    actions: [{ type: "button", action_id: "press", action_ts: timestamp(), value }],
  };
}

function timestamp(): string {
  return (Date.now() / 1_000).toFixed(6);
}

function callback<Event>(id: string, event: Event) {
  const authorizations = [{ team_id: WORKSPACE.team_id, user_id: WORKSPACE.user_id, is_bot: true }];
  return { type: "event_callback", event_id: `Ev${id}`, team_id: WORKSPACE.team_id, authorizations, event };
}
