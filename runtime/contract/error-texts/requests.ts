import type { ErrorText } from "./error-text.ts";

export const REQUESTS_ERRORS = {
  delivery_invalid: {
    status: 400,
    title: "The delivery is not valid",
    cause: "The delivery is not in the format that this version expects.",
    fix: "Deploy the edge and the container from the same build.",
  },
  signature_invalid: {
    status: 403,
    title: "The signature is not valid",
    cause: "The request was not signed by the platform, or was signed more than 5 minutes ago.",
    fix: "Check the channel's signing secret and this machine's clock.",
  },
  stack_signature_invalid: {
    status: 403,
    title: "Not signed by the stack",
    cause: "The request is not signed by the stack that deployed this service, or its signature has expired.",
    fix: ({ script }) =>
      `Send the request with one of the stack's commands, such as \`${script("backup")}\`. If it is still refused, check this machine's clock.`,
  },
  stack_signature_used: {
    status: 403,
    title: "The signature was used before",
    cause: "Each signature is accepted only once.",
    fix: ({ script }) =>
      `Use one of the stack's commands, such as \`${script("backup")}\`, which sign each request. If nobody sent the request twice, check who can read the traffic.`,
  },
  broker_refused: {
    status: 403,
    title: "The gateway is not allowed to make this request",
    cause: "The request's access token is missing, or is not the one that the gateway currently uses.",
    fix: "The deployment itself needs no change. If a program needs to call that service, add the service's API key to steward:secrets.",
  },
  broker_operation_unknown: {
    status: 403,
    title: "The gateway is not allowed to perform this operation",
    cause: "The broker allows only the operations that the gateway needs. This is not one of them.",
    fix: "If you did not cause this in a test, restart the gateway and check the tools and programs that it runs.",
  },
  broker_arguments_invalid: {
    status: 400,
    title: "The operation's arguments are not valid",
    cause: "The broker does not allow this operation with these arguments.",
    fix: "Check the chat's id in the config. If it is right, report this as a bug.",
  },
  broker_other_chat: {
    status: 403,
    title: "The request names another chat",
    cause: "With steward:tenancy chat, a gateway serves one chat, and this request is about another one.",
    fix: "If you did not cause this in a test, check the tools and programs that the chat uses. To have the bot write to another chat, make the request in that chat.",
  },
  broker_no_proxy: {
    status: 400,
    title: "This deployment does not support proxies",
    cause: "The config sets a proxy, which the serverless stack cannot use.",
    fix: "Remove channels.telegram.proxy, or deploy the host stack, which supports it.",
  },
  broker_proxy_refused: {
    status: 503,
    title: "The requested proxy is not the configured one",
    cause: "The gateway requested a proxy that is not in the config file.",
    fix: "steward retries. If the error persists, check channels.telegram.proxy and restart the gateway.",
  },
  broker_no_answer: {
    status: 502,
    title: "The service did not answer",
    cause: "A chat platform or model provider could not be reached.",
    fix: "steward retries. If the error persists, see the service's status page.",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large",
    cause: "The body is larger than 1 MiB.",
    fix: "Send a smaller body.",
  },
  media_type_unsupported: {
    status: 415,
    title: "Only JSON is accepted",
    cause: "The request's content type is not application/json.",
    fix: "Send Content-Type: application/json.",
  },
  body_invalid: {
    status: 400,
    title: "The body is not valid",
    cause: "The body is not a JSON object of the expected form.",
    fix: "Send JSON in the format described in the platform's documentation.",
  },
  form_invalid: {
    status: 400,
    title: "The form is not valid",
    cause: "A form field is missing or unknown, or its value is not allowed.",
    fix: "Reload the page and use its buttons.",
  },
  query_invalid: {
    status: 400,
    title: "The query is not valid",
    cause: "A query parameter is unknown or has a value that is not allowed.",
    fix: "Correct the parameters named in the error.",
  },
  ledger_entry_unknown: {
    status: 404,
    title: "No such event",
    cause:
      "The ledger has no entry with this key: the event never arrived, or its entry was deleted seven days after it finished.",
    fix: "See /debug/ledger for the keys.",
  },
  ledger_entry_not_replayable: {
    status: 409,
    title: "The event has not failed",
    cause: "Only a failed or ignored event can be replayed; this one is in progress or answered.",
    fix: "See /debug/ledger?state=failed for failed events.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    cause: "No route has this address.",
    fix: "Check the address.",
  },
  usage_invalid: {
    status: 400,
    title: "The command line is not valid",
    cause: "A command, argument or option is unknown or missing.",
    fix: "See `steward --help`, or the command's own --help.",
  },
  request_malformed: {
    status: 400,
    title: "Not an HTTP request",
    cause: "The client did not send valid HTTP/1.1.",
    fix: "Send a request that conforms to RFC 9112, with special characters in the path percent-encoded.",
  },
  request_too_slow: {
    status: 408,
    title: "The request took too long",
    cause: "Headers must arrive within 10 s, the whole request within 30 s.",
    fix: "Send the request without pauses.",
  },
  headers_too_large: {
    status: 431,
    title: "The headers are too large",
    cause: "The headers add up to more than 16 KiB.",
    fix: "Send fewer or shorter headers; in a browser, clear the site's cookies.",
  },
} as const satisfies Record<string, ErrorText>;
