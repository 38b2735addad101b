import type { ErrorText } from "./error-text.ts";

/** Failures of a request or a command line. */
export const REQUESTS_ERRORS = {
  delivery_invalid: {
    status: 400,
    title: "The delivery is not valid",
    cause: "The request is not a delivery of this version's form.",
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
    cause: "The request carries no signature of the stack that has deployed this, or an old one.",
    fix: "Ask by a command on the stack, as `npm run backup -- <stack>`, and check this machine's clock.",
  },
  broker_refused: {
    status: 403,
    title: "Not a request of the gateway",
    cause: "The broker sends on what the gateway that runs asks of its services, and nothing else.",
    fix: "Nothing is wrong with the deployment. A program that needs a service gets a key of its own, by steward:secrets.",
  },
  broker_no_proxy: {
    status: 400,
    title: "No proxy on this target",
    cause: "The config names a proxy for a service, and the serverless stack cannot go through one.",
    fix: "Remove channels.telegram.proxy, or deploy the host stack, which goes through it.",
  },
  broker_no_answer: {
    status: 502,
    title: "The service did not answer",
    cause: "A chat platform or model provider could not be reached.",
    fix: "See its status page. The request is repeated.",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large",
    cause: "The body is above 1 MiB.",
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
    fix: "Send the JSON that the platform documents.",
  },
  form_invalid: {
    status: 400,
    title: "The form is not valid",
    cause: "A field of the form is missing, unknown or has a value that is not allowed.",
    fix: "Load the page again and use its buttons.",
  },
  query_invalid: {
    status: 400,
    title: "The query is not valid",
    cause: "A parameter of the query is unknown or has a value that is not allowed.",
    fix: "Correct the parameters named in the detail.",
  },
  ledger_entry_unknown: {
    status: 404,
    title: "No such event",
    cause: "The ledger has no entry of this key: it never came, or was deleted seven days after its end.",
    fix: "See /debug/ledger for the keys.",
  },
  ledger_entry_not_replayable: {
    status: 409,
    title: "The event was not given up",
    cause:
      "Only an event that failed or was ignored can be delivered again; this one is under way or answered.",
    fix: "See /debug/ledger?state=failed for those that were given up.",
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
    cause: "The command, an argument or an option does not exist or is missing.",
    fix: "See `steward --help`, or the command's own --help.",
  },
  request_malformed: {
    status: 400,
    title: "This is no HTTP request",
    cause: "What came over the connection is not HTTP/1.1.",
    fix: "Send a request as RFC 9112 has it; a path has its special characters percent-encoded.",
  },
  request_too_slow: {
    status: 408,
    title: "The request took too long",
    cause: "Headers take at most 10 s to arrive, a whole request 30 s.",
    fix: "Send it in one go.",
  },
  headers_too_large: {
    status: 431,
    title: "The headers are too large",
    cause: "All headers together are larger than 16 KiB.",
    fix: "Send fewer or shorter headers; clear the site's cookies where a browser says so.",
  },
} as const satisfies Record<string, ErrorText>;
