import type { ErrorText } from "./error-text.ts";

/** Senders, devices and the web chat. */
export const PEOPLE_ERRORS = {
  token_limit_reached: {
    status: 429,
    title: "A limit of tokens a day is reached",
    cause: "A chat or a person has used agent.limits.tokensPerDay.",
    fix: "Raise agent.limits.tokensPerDay in steward.json, or wait for midnight (UTC).",
  },
  pairing_code_unknown: {
    status: 404,
    title: "No pending pairing request found",
    cause: "No request with this code is pending: it was settled, or it is older than an hour.",
    fix: "See `steward pairing list` for the codes; after an hour the sender writes again for a new one.",
  },
  device_request_unknown: {
    status: 404,
    title: "No pending device request found",
    cause: "No request with this id is pending: it was settled, or it is older than 5 minutes.",
    fix: "See `steward devices list`; a chat page that is open asks again by itself.",
  },
  devices_unavailable: {
    status: 504,
    title: "The list of devices does not come",
    cause: "The container does not answer the question for devices and requests; pairing itself still works.",
    fix: "Read the pending requests with /debug/cli?cmd=cat credentials/slack-pairing.json (or telegram, discord) and approve one with /debug/cli?cmd=pairing approve slack <code>.",
  },
  device_unknown: {
    status: 404,
    title: "No such device",
    cause: "No paired device has this id.",
    fix: "See `steward devices list` for the ids.",
  },
  device_id_ambiguous: {
    status: 409,
    title: "The id is not unique",
    cause: "Several ids begin with what was given.",
    fix: "Give more of the id; see `steward devices list`.",
  },
  device_refused: {
    status: 403,
    title: "This device may not be used",
    cause: "The device was revoked, or it did not prove that it holds its key.",
    fix: "Pair the browser anew; the operator looks with `steward devices list`.",
  },
  devices_full: {
    status: 429,
    title: "Too many devices wait for approval",
    cause: "Others that wait for approval took this one's place: 10 wait in all, 3 of one network.",
    fix: "Try again, and let the operator approve it (`steward devices list`).",
  },
  chat_origin_refused: {
    status: 403,
    title: "Another site's page may not open the chat",
    cause: "The connection was not asked for by this service's own page.",
    fix: "Open /chat at this service's own address; a proxy before it must keep the Host header.",
  },
  chat_upgrade_required: {
    status: 426,
    title: "This address is a WebSocket",
    cause: "The request does not ask for a WebSocket.",
    fix: "Open /chat in a browser.",
  },
  chat_too_many: {
    status: 429,
    title: "Too many messages or connections",
    cause: "This device sends faster than allowed, or too many chat pages are connected.",
    fix: "Wait a minute and try again.",
  },
  chat_message_invalid: {
    status: 400,
    title: "The chat message is not valid",
    cause: "The page sent something that is not a message of the web chat's form.",
    fix: "Load the page again.",
  },
} as const satisfies Record<string, ErrorText>;
