import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROUTES, type Route } from "../../runtime/contract/routes.ts";
import { GROUPS } from "../../runtime/operations/registry.ts";
import { sha256Hex } from "../../runtime/contract/digest.ts";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../support/edge.ts";
import { unescaped } from "../support/form.ts";

const HOST = "https://steward.example.com";
const VALUES = 200;
const SEED = Number(process.env["FORMS_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const operator = signedIn();
const at = new Date(NOW - 60_000).toISOString();
const SHA = "a".repeat(64);

/** Queries of the pages that need one. */
const QUERIES: Readonly<Record<string, string>> = {
  [ROUTES.configAllowGroup.path]: "?platform=slack&group=C1",
  [ROUTES.workspaceFile.path]: "?name=AGENTS.md",
  [ROUTES.sessionPage.path]: "?conversation=slack:C1",
  [ROUTES.ledgerEvent.path]: "?key=slack:Ev1",
  [ROUTES.schedulesEdit.path]: "?id=cli:0",
  [ROUTES.backupsRestorePage.path]: "?id=00000001-00000001",
};

/** Answers of a container in which everything is there that a form is about. */
const KNOWN: Readonly<Record<string, object>> = {
  "pairing list": {
    channels: [
      { channel: "slack", requests: [{ id: "U1", code: "ABCDEFGH", createdAt: at }], approved: ["U2"] },
    ],
  },
  "devices list": {
    pending: [
      {
        requestId: "3f1c2a9e-0000-4000-8000-00000000000a",
        deviceId: "cd".repeat(32),
        displayName: "x",
        remoteIp: "",
        ts: NOW,
      },
    ],
    paired: [
      { deviceId: "ab".repeat(32), displayName: "x", role: "chat", approvedAtMs: NOW, tokens: { chat: {} } },
    ],
  },
  "schedules list": {
    schedules: [true, false].map((enabled, index) => ({
      id: `cli:${index}`,
      source: "cli",
      to: { platform: "slack", chat: "C1" },
      enabled,
      cron: "0 9 * * 1-5",
      text: "x",
      nextAt: enabled ? at : null,
      lastAt: null,
      lastOutcome: null,
    })),
  },
  "schedules history": { runs: [] },
  "schedules preview": { next: [] },
  "sessions list": { sessions: [{ conversation: "slack:C1", messages: 1, lastAt: at }] },
  "sessions show": { conversation: "slack:C1", messages: 1, inUse: 1, summarised: false },
  "sessions messages": { messages: [] },
  "sessions export": { messages: [] },
  "workspace list": { files: [{ name: "AGENTS.md", size: 9, changedAt: at }] },
  "workspace show": { text: "x", expected: SHA, sha256: await sha256Hex("x"), versions: [] },
};

/** Returns the error of a container that checks what it is given. */
function refusalOf(
  operation: string,
  input: object,
): { error: { code: string; message: string } } | undefined {
  const { file = "AGENTS.md", text = "", cron, timezone } = input as Record<string, string | undefined>;
  const refusal = (code: string, message: string) => ({ error: { code, message } });
  if (operation.startsWith("workspace s") && file !== "AGENTS.md")
    return refusal("workspace_file_unknown", "No file.");
  if (operation === "workspace write" && text !== "x")
    return refusal("workspace_refused", "It cannot be written.");
  if (!/^schedules (?:add|edit|preview)$/.test(operation)) return undefined;
  if (cron !== "0 9 * * 1-5") return refusal("schedule_invalid", "cron: must be five fields");
  return timezone === undefined || timezone === "UTC"
    ? undefined
    : refusal("schedule_invalid", "timezone: there is no such time zone");
}
const CHANGING = new Set(
  GROUPS.flatMap(({ operations }) => operations)
    .filter(({ changes }) => changes !== undefined)
    .map(({ name }) => name),
);

/** Answers as a container that is given a config. */
function checkText({ body = "" }: { body?: string }): Response {
  const problems = [{ path: "", message: "This is not a config." }];
  return body === "{}\n"
    ? Response.json({ text: "{}\n", sha256: SHA })
    : Response.json({ problems, text: body }, { status: 422 });
}

/** An edge with its changes. */
async function stage() {
  const { jwk, headers } = await operator;
  const { answers, asked } = operationAnswers(
    (_, operation, input) => refusalOf(operation, input) ?? KNOWN[operation] ?? {},
  );
  const made: string[] = [];
  const note = (what: string) => void made.push(what);
  let now = NOW;
  const { app, wakes } = edgeFixture({
    jwk,
    // Slower than the limit of an identity's requests.
    clock: () => (now += 300),
    answers: {
      ...answers,
      "/config-file?as=file": () => Response.json({ text: "{}\n", sha256: SHA }),
      "/config-file?as=fresh": () => Response.json({ text: '{"a": 1}\n', sha256: SHA }),
      [`/config-file?expected=${SHA}&write=false`]: checkText,
      [`/config-file?expected=${SHA}&write=true`]: (request) => {
        const response = checkText(request);
        if (response.ok) note("wrote the config");
        return response;
      },
    },
    activity: { record: async ({ action }) => note(`recorded ${action}`), activity: async () => [] },
    ledger: {
      replay: async () => (note("replayed"), "replayed"),
      list: async () => ({ entries: [ENTRY] }),
      details: async () => ({ entry: ENTRY, attempts: [] }),
    },
  });
  const changes = () => [
    ...made,
    ...wakes,
    ...asked
      .filter(([name, input]) => CHANGING.has(name) && refusalOf(name, input) === undefined)
      .map(([name]) => name),
  ];
  const send = async (
    { method, action }: Form,
    body: string | Uint8Array<ArrayBuffer>,
    type = URLENCODED,
  ) => {
    const [address, init] =
      method === "POST"
        ? [action, { method, headers: { ...headers, ...BROWSER, "content-type": type }, body }]
        : [`${action}?${String(body)}`, { headers: { ...headers, ...BROWSER } }];
    const response = await app.request(`${HOST}${address}`, init);
    return { status: response.status, text: await response.text() };
  };
  const look = async (path: string) =>
    await (await app.request(`${HOST}${path}`, { headers: { ...headers, accept: "text/html" } })).text();
  return { look, send, changes };
}

const URLENCODED = "application/x-www-form-urlencoded";
const BROWSER = { origin: HOST, accept: "text/html" };
const ENTRY = {
  key: "slack:Ev1",
  platform: "slack",
  conversation: "slack:C1",
  state: "failed" as const,
  attempts: 1,
  receivedAt: at,
};

/** A field as a page has it. `isTyped`: people write its value; others are chosen or hidden. */
interface Field {
  name: string;
  value: string;
  isTyped: boolean;
  isRequired: boolean;
  longest: number;
}

interface Form {
  method: "GET" | "POST";
  action: string;
  fields: Field[];
}

function attributesOf(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [
      name,
      unescaped(value),
    ]),
  );
}

/** Returns the forms of a page with their fields, as a browser sends them. */
function formsOf(page: string, path: string): Form[] {
  return [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form/g)].flatMap(([, tag = "", content = ""]) => {
    const { method = "get", action = path } = attributesOf(tag);
    const fields = new Map<string, Field>();
    for (const [, kind = "", raw = "", inner = ""] of content.matchAll(
      /<(input|textarea|button)\b([^>]*)>(?:\n?([^<]*)<\/textarea)?|<(?:select)\b[^>]*>/g,
    )) {
      const { name, value = unescaped(inner), type = "text", maxlength, required } = attributesOf(raw);
      if (name === undefined || name === "" || (type === "radio" && !/\bchecked/.test(raw))) continue;
      const isTyped = kind === "textarea" || (kind === "input" && ["text", "search"].includes(type));
      const longest = Number(maxlength ?? Number.POSITIVE_INFINITY);
      fields.set(name, { name, value, isTyped, isRequired: required !== undefined, longest });
    }
    for (const [, name = "", options = ""] of content.matchAll(
      /<select[^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/select/g,
    )) {
      const value =
        /<option value="([^"]*)" selected/.exec(options)?.[1] ?? /<option value="([^"]*)"/.exec(options)?.[1];
      fields.set(name, {
        name,
        value: value ?? "",
        isTyped: false,
        isRequired: false,
        longest: Number.POSITIVE_INFINITY,
      });
    }
    const form = { method: method.toUpperCase() as Form["method"], fields: [...fields.values()] };
    const others = [...content.matchAll(/ formaction="([^"]*)"/g)].map(([, other = ""]) => unescaped(other));
    return [action, ...others].map((one) => Object.assign({ action: one }, form));
  });
}

/** Texts that break something in careless programs. */
const hostile = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'",
    "--help",
  ),
  fc.constantFrom(
    "../../etc/passwd",
    "%00",
    "%",
    "null",
    "[object Object]",
    "__proto__",
    "\u202E\u2066",
    "🤷‍♀️".repeat(40),
  ),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.integer({ min: 100, max: 30_000 }).map((length) => "x".repeat(length)),
);

/** Returns true for a text that the form itself says is wrong. */
function isWrong({ isRequired, longest }: Field, value: string): boolean {
  return (isRequired && value.trim() === "") || value.length > longest;
}

const told = (value: string) => JSON.stringify(value).slice(0, 80);
const shownAs = (text: string) =>
  text.replace(
    /[&<>"']/g,
    (one) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" }[one]};`,
  );

/** Says what is wrong with a page that refuses a field's value; empty for a right one. */
function faults(page: string, { name }: Pick<Field, "name">, value: string): string[] {
  const fields = [...page.matchAll(/<(?:input|textarea)\b[^>]*>(?:\n[^<]*<\/textarea)?/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(` name="${shownAs(name)}"`) && !tag.includes('type="hidden"'));
  const field = fields.find((tag) => tag.includes('aria-invalid="true"'));
  if (field === undefined) return [`${name} is not marked`];
  const ids = /aria-describedby="([^"]*)"/.exec(field)?.[1]?.split(" ") ?? [];
  const texts = ids.map(
    (id) => new RegExp(`id="${id}"[^>]*>([\\s\\S]*?)</(?:p|div|aside)`).exec(page)?.[1] ?? "",
  );
  const isSaid = texts.some((text) => /[.!]\s*$/.test(text.replace(/<[^>]*>/g, "").trim()));
  // A text area has the line ends of a text, and not those of the network.
  const isKept = [value, value.replaceAll("\r\n", "\n")]
    .map(shownAs)
    .some((one) => field.includes(`value="${one}"`) || field.endsWith(`>\n${one}</textarea`));
  return [
    ...(isKept ? [] : [`${name} lost its value`]),
    ...(isSaid ? [] : [`nothing says why ${name} is wrong`]),
  ];
}

const { look, send, changes } = await stage();
const pages = Object.values<Route>(ROUTES)
  .filter(
    ({ method, path, access }) => method === "GET" && access === "identity" && path.startsWith("/_admin"),
  )
  .filter(({ path }) => !/\/api\/|\/download$|\/export$/.test(path))
  .map(({ path }) => path);
const found = new Map<string, Form>();
/** Adds the forms of a page, with values for the fields that a page leaves empty. */
function add(page: string, path: string): Form[] {
  const forms = formsOf(page, path).filter(({ action }) => action.startsWith("/_admin"));
  for (const form of forms) {
    for (const field of form.fields) field.value ||= USUAL[field.name] ?? "";
    found.set(`${form.method} ${form.action} ${form.fields.map(({ name }) => name).join(" ")}`, form);
  }
  return forms;
}
const USUAL: Readonly<Record<string, string>> = {
  chat: "slack:C1",
  message: "x",
  text: "x",
  name: "AGENTS.md",
};
for (const path of pages) add(await look(`${path}${QUERIES[path] ?? ""}`), path);
// Some are on what another form answers with.
for (const [, form] of found) {
  const sent = new URLSearchParams(form.fields.map(({ name, value }): [string, string] => [name, value]));
  if (form.method === "POST") add((await send(form, sent.toString())).text, form.action);
}
const forms = [...found];

/** Forms of a notice, a sleeping container, a broken config, tenancy and a script, which have tests of their own. */
const ELSEWHERE: readonly string[] = [
  ROUTES.tenantChoose.path,
  ROUTES.undo.path,
  ROUTES.wake.path,
  ROUTES.configMendNow.path,
  ROUTES.configCheck.path,
];

it("every form of the administration is on a page that is looked at", () => {
  const actions = new Set(forms.map(([, { action }]) => action.split("?")[0]));
  const posts = Object.values<Route>(ROUTES).filter(
    ({ method, access, path }) =>
      method === "POST" && access === "identity" && /^\/_admin\/(?!api\/)/.test(path),
  );
  expect(posts.map(({ path }) => path).filter((path) => !actions.has(path))).toEqual(ELSEWHERE);
});

describe(`a form (FORMS_SEED=${SEED})`, () => {
  /** Says what is wrong with the answer to a form with one value put in. */
  async function wrongWith(form: Form, field: Field, value: string): Promise<string[]> {
    const before = changes().length;
    const fields = form.fields.map(({ name, value: right }): [string, string] => [
      name,
      name === field.name ? value : right,
    ]);
    const { status, text } = await send(form, new URLSearchParams(fields).toString());
    const isMarkup = text.includes("<script>alert") || text.includes("<img src=x");
    if (isMarkup || status >= 500) return [isMarkup ? "it is shown as markup" : `status ${status}`];
    if (status < 400) return isWrong(field, value) ? ["a value that the form calls wrong is taken"] : [];
    return [
      ...(changes().length === before ? [] : ["something has changed"]),
      ...(field.isTyped || text.includes("<code>form_invalid</code>") ? faults(text, field, value) : []),
    ];
  }

  it.each(forms)("%s", async (_, form) => {
    const typed = form.fields.filter(({ isTyped }) => isTyped);
    for (const field of form.fields) {
      const numRuns = field.isTyped ? Math.ceil(VALUES / typed.length) : VALUES / 10;
      for (const value of fc.sample(hostile, { numRuns, seed: SEED }))
        expect([field.name, told(value), await wrongWith(form, field, value)]).toEqual([
          field.name,
          told(value),
          [],
        ]);
    }
  });

  it.each(forms.filter(([, { method, fields }]) => method === "POST" && fields.length > 0))(
    "%s, not as the page has it",
    async (_, form) => {
      const usual = form.fields.map(({ name, value }): [string, string] => [name, value]);
      const right = new URLSearchParams(usual).toString();
      const multipart = `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b--`;
      const wrong: [string | Uint8Array<ArrayBuffer>, string?][] = [
        [`${right}&extra=1`],
        [`${right}&__proto__=1`],
        [JSON.stringify(Object.fromEntries(usual)), "application/json"],
        [multipart, "multipart/form-data; boundary=b"],
        [new Uint8Array([0xff, 0xfe, 0x3d, 0x00])],
        ["%"],
        ["=&=&="],
        [""],
      ];
      const before = changes();
      for (const [body, type] of wrong) {
        const known = String(body).slice(0, 60);
        expect([known, (await send(form, body, type)).status, changes()]).toEqual([known, 400, before]);
      }
    },
  );
});
