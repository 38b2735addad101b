import type { ErrorText } from "./error-text.ts";

export const PEOPLE_ERRORS = {
  token_limit_reached: {
    status: 429,
    title: "The daily token limit has been reached",
    cause: "A chat or a person has used all the tokens that agent.limits.tokensPerDay allows.",
    fix: "Raise agent.limits.tokensPerDay in steward.json, or wait for midnight (UTC).",
  },
  message_limit_reached: {
    status: 429,
    title: "The message limit has been reached",
    cause: "A person sent more messages in a minute than agent.limits.messagesPerMinute allows.",
    fix: "Raise agent.limits.messagesPerMinute in steward.json, or wait a minute.",
  },
  pairing_code_unknown: {
    status: 404,
    title: "No pending pairing request found",
    cause: "No request with this code is pending: it was approved or rejected, or is older than an hour.",
    fix: "Run `steward pairing list` for the codes. After an hour the sender must write again to get a new code.",
  },
  everyone_let_in: {
    status: 409,
    title: "The bot is open to everyone",
    cause: 'allowFrom has "*": everyone who finds the bot may write to it.',
    fix: 'Replace "*" in allowFrom with the ids of the people to allow. Or remove it, set dmPolicy to "pairing", and approve each person. To keep the bot open, set agent.limits.tokensPerDay, and use agent.may to grant guests only what they need.',
  },
  operator_missing: {
    status: 409,
    title: "Nobody is an operator",
    cause:
      "Nobody has operator rights in chats: nobody was approved as an operator, and agent.operators is empty.",
    fix: "Run `steward pairing grant <platform> <user id> operator`, for a browser `steward devices grant <deviceId> operator`, or name people in agent.operators; /whoami shows the id.",
  },
  sender_id_invalid: {
    status: 400,
    title: "Not a user id of this platform",
    cause: "This is not a valid user id on this platform.",
    fix: "Enter the sender's id. The bot shows strangers their id; approved senders see theirs with /whoami.",
  },
  sender_unknown: {
    status: 404,
    title: "No such approved sender",
    cause:
      "No approved sender of this channel has this id. People in allowFrom can only be removed in the config.",
    fix: "Run `steward pairing list` to see the approved senders.",
  },
  undo_over: {
    status: 409,
    title: "This can no longer be undone",
    cause: "The time to undo has passed, the change was already undone, or another session made it.",
    fix: "Undo the change by hand on the item's page.",
  },
  undo_changed: {
    status: 409,
    title: "Not undone: the item has changed since",
    cause: "The change cannot be undone, because a later change affects the same item.",
    fix: "Reload the page and check the current state.",
  },
  workspace_file_unknown: {
    status: 404,
    title: "No such file",
    cause: "The workspace has no such file, or no such version of it.",
    fix: "List the files with `steward workspace list`; `steward workspace show <file> --json` lists its versions.",
  },
  workspace_changed: {
    status: 409,
    title: "The file has changed",
    cause: "The file has changed since it was read; the assistant may have written to it.",
    fix: "Read it again and apply the change to the current version.",
  },
  workspace_refused: {
    status: 400,
    title: "The file cannot be written",
    cause:
      "The path leads out of the workspace or is not allowed, the text is too long, or there is no space left.",
    fix: "Name a path within the workspace, such as skills/mail/SKILL.md, and write at most 48 KiB.",
  },
  session_unknown: {
    status: 404,
    title: "No such conversation",
    cause: "No conversation with this name is stored; `sessions.retention` may have removed it.",
    fix: "List the conversations with `steward sessions list`.",
  },
  device_request_unknown: {
    status: 404,
    title: "No pending device request found",
    cause: "No request with this id is pending: it was approved or rejected, or is older than 5 minutes.",
    fix: "Run `steward devices list` to see the current requests. An open chat page repeats its request automatically.",
  },
  devices_unavailable: {
    status: 504,
    title: "The list of devices is not available",
    cause: "The container did not answer in time; pairing itself still works.",
    fix: "Open /debug/cli?cmd=cat credentials/slack-pairing.json to see Slack's pending requests, and /debug/cli?cmd=pairing approve slack <code> to approve one. Other channels work the same way.",
  },
  device_unknown: {
    status: 404,
    title: "No such device",
    cause: "No paired device has this id.",
    fix: "Run `steward devices list` for the ids.",
  },
  device_id_ambiguous: {
    status: 409,
    title: "The id is not unique",
    cause: "Several ids begin with this text.",
    fix: "Enter more characters of the id; `steward devices list` shows them.",
  },
  device_refused: {
    status: 403,
    title: "This device is not allowed",
    cause: "The device was revoked, or it did not prove that it holds its key.",
    fix: "Pair the browser again; the operator approves it (`steward devices list`).",
  },
  devices_full: {
    status: 429,
    title: "Too many devices are waiting for approval",
    cause: "At most 10 requests may be pending, 3 from one network; newer ones replaced this one.",
    fix: "Try again, then ask the operator to approve the device (`steward devices list` shows it).",
  },
  chat_origin_refused: {
    status: 403,
    title: "Other sites are not allowed to open the chat",
    cause: "The connection did not come from this service's own page.",
    fix: "Open /chat at this service's own address; a proxy in front of it must keep the Host header.",
  },
  chat_upgrade_required: {
    status: 426,
    title: "This address only accepts WebSockets",
    cause: "The request is not a WebSocket upgrade request.",
    fix: "Open /chat in a browser.",
  },
  chat_too_many: {
    status: 429,
    title: "Too many messages or connections",
    cause: "This device is sending messages faster than allowed, or too many chat pages are connected.",
    fix: "Wait a minute and try again.",
  },
  chat_file_refused: {
    status: 403,
    title: "The file is only available to the chat page it was sent to",
    cause: "The request does not come from a connected chat page.",
    fix: "Open the file from the chat page.",
  },
  chat_file_unknown: {
    status: 404,
    title: "No such file in the chat",
    cause: "It was not sent to this browser, or the workspace no longer has it.",
    fix: "Ask the assistant to send it again.",
  },
  chat_message_invalid: {
    status: 400,
    title: "The chat message is not valid",
    cause: "The page sent an unknown kind of message.",
    fix: "Reload the page.",
  },
} as const satisfies Record<string, ErrorText>;
