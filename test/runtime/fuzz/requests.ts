import * as fc from "fast-check";
import { ROUTES, type Route } from "../../../runtime/contract/routes.ts";
import { EVENTS, INTERACTIONS, UPDATES } from "./events.ts";
import { mutated } from "./shapes.ts";

/** A request to be sent as it stands: nothing of its path is resolved or encoded. It is one by RFC 9112. */
export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Whose request it is: `signed` has Slack's signature of the body. */
  by: "stranger" | "operator" | "slack";
}

const METHODS = ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];
/** What is put into a path, before it, behind it. */
const BENDS: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => `/${path.slice(1).replaceAll("/", "%2f")}`,
  (path) => path.toUpperCase(),
  (path) => `${path}/../${path.slice(1)}`,
  (path) => `${path}/%2e%2e/%2e%2e/etc/passwd`,
  (path) => `/.${path}`,
  (path) => `${path}%00`,
  (path) => `${path}%ff%fe`,
  (path) => `${path}%`,
  (path) => `${path};x=1`,
  (path) => `${path}%5c..%5cx`,
  (path) => `${path}${"/long".repeat(200)}`,
];
const KEYS = ["cmd", "logs", "lines", "state", "platform", "limit", "before", "next", "done", "problem", "x"];
const VALUES = [
  "true",
  "0",
  "-1",
  "1e9",
  "5",
  "failed",
  "slack",
  "%00",
  "%",
  "status",
  "cat%20steward.json",
  "cat%20credentials%2f..%2f..%2fetc%2fpasswd",
  "rm%20-rf",
  "devices%20approve%20x",
  "'",
  "https:%2f%2fevil.example",
  "%3cscript%3e",
  "x".repeat(2_000),
];
const HEADERS: Record<string, readonly string[]> = {
  accept: ["text/html", "application/json", "*/*", ""],
  "content-type": [
    "application/json",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "text/plain",
    "x",
  ],
  "sec-fetch-site": ["same-origin", "none", "cross-site", "same-site", "?"],
  origin: ["null", "https://evil.example", "http://127.0.0.1"],
  cookie: ["CF_Authorization=a.b.c", "steward_session=", "=;;=", "a=%00; b=\u00ff", `c=${"x".repeat(3_000)}`],
  authorization: ["Bearer ", "Bearer wrong", "Basic eDp5", "Bearer \u00e9"],
  "cf-access-jwt-assertion": ["a.b.c", "eyJhbGciOiJub25lIn0.e30.", "x".repeat(3_000)],
  "x-slack-request-timestamp": ["0", "-1", "NaN", "9".repeat(30)],
  "x-slack-signature": ["v0=", "v1=00", `v0=${"0".repeat(64)}`],
  "x-signature-timestamp": ["", "0", "x"],
  "x-signature-ed25519": ["", "00".repeat(64), "zz"],
  "x-telegram-bot-api-secret-token": ["", "x", "\u00e9"],
  upgrade: ["h2c"],
  range: ["bytes=0-1"],
  "if-none-match": ["*"],
};
const FORMS = [
  "request=telegram:ABCDEFGH",
  "request=device:00000000-0000-4000-8000-000000000000&request=slack:ZZZZZZZZ",
  `device=${"0".repeat(64)}`,
  "request=x",
  "token=wrong&next=%2f%2fevil.example",
  "key=slack:nothing",
  "%=%&=&&",
];
const NOT_JSON = [
  "",
  "{",
  "[]",
  "null",
  '{"a":1,"a":2}',
  "\u0000",
  '{"key":"slack:x"}',
  '{"key":7}',
  "[".repeat(5_000),
];

const path = fc
  .tuple(
    fc.constantFrom<Route>(...Object.values(ROUTES)),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      fc.array(fc.constantFrom(...BENDS), { maxLength: 2 }),
    ),
  )
  .map(([route, bends]) => ({ route, path: bends.reduce((now, bend) => bend(now), route.path) }));
const query = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)), { maxLength: 3 })
  .map((pairs) => (pairs.length === 0 ? "" : `?${pairs.map((pair) => pair.join("=")).join("&")}`));
const headers = fc
  .array(
    fc
      .constantFrom(...Object.entries(HEADERS))
      .chain(([name, values]) => fc.constantFrom(...values).map((value) => [name, value] as const)),
    { maxLength: 6 },
  )
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));
const json = mutated([...EVENTS, ...UPDATES, ...INTERACTIONS]).map((value) => JSON.stringify(value) ?? "");
const body = fc.oneof(
  { weight: 4, arbitrary: json },
  { weight: 2, arbitrary: fc.constantFrom(...FORMS) },
  { weight: 2, arbitrary: fc.constantFrom(...NOT_JSON) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
);
const by = fc.oneof(
  { weight: 5, arbitrary: fc.constant("stranger" as const) },
  { weight: 1, arbitrary: fc.constant("operator" as const) },
);

const toAnyRoute: fc.Arbitrary<RawRequest> = fc
  .record({
    path,
    method: fc.option(fc.constantFrom(...METHODS), { freq: 3 }),
    query,
    headers,
    body,
    by,
  })
  .map(({ path: { route, path: bent }, method, query: asked, headers: given, body: sent, by: whose }) => ({
    method: method ?? route.method,
    path: bent + asked,
    headers: given,
    body: sent,
    by: whose,
  }));
const signedBySlack: fc.Arbitrary<RawRequest> = mutated(EVENTS).map((event) => ({
  method: "POST",
  path: ROUTES.slackEvents.path,
  headers: {},
  body: JSON.stringify(event) ?? "",
  by: "slack",
}));
/** Accepted as a form from the console's own pages; what it asks for hardly ever exists. */
const operatorsForm: fc.Arbitrary<RawRequest> = fc
  .record({
    route: fc.constantFrom<Route>(
      ROUTES.wake,
      ROUTES.undo,
      ROUTES.devicesApprove,
      ROUTES.devicesReject,
      ROUTES.devicesRevoke,
      ROUTES.peopleRevoke,
      ROUTES.ledgerPageReplay,
      ROUTES.schedulesRemove,
    ),
    body: fc.constantFrom(...FORMS),
  })
  .map(({ route, body: form }) => ({
    method: route.method,
    path: route.path,
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    body: form,
    by: "operator",
  }));

/** A request to a route of the table, with something wrong in it nearly always. */
export const request: fc.Arbitrary<RawRequest> = fc.oneof(
  { weight: 15, arbitrary: toAnyRoute },
  { weight: 1, arbitrary: operatorsForm },
  { weight: 1, arbitrary: signedBySlack },
);
