import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { processOutput } from "../../runtime/gateway/cli/context.ts";
import { runRequest } from "../../runtime/gateway/cli/program.ts";
import { openStore } from "../../runtime/gateway/store.ts";
import { Sessions } from "../../runtime/gateway/sessions/store.ts";
import { readProcessSettings } from "../../runtime/process/settings.ts";
import { problem } from "../../runtime/contract/problem.ts";
import { writeConfig } from "../runtime/support/gateway.ts";
import { edgeFixture, NOW, signedIn } from "../support/edge.ts";

const HOST = "https://steward.example.com";
const RUNS = 200;
const SEED = Number(process.env["VALUES_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const CONVERSATION = "slack:C1";
const operator = signedIn();
let page: (path: string, fields?: Record<string, string>) => Promise<{ status: number; text: string }>;

/** The edge over the command line itself, as the supervisor runs it, in this process. */
async function edge(home: string) {
  const environment = { STEWARD_HOME: home, SLACK_BOT_TOKEN: "x", SLACK_SIGNING_SECRET: "y" };
  const settings = readProcessSettings(environment);
  const answer = async ({ body = "" }: { body?: string }) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const redact = (text: string) => text;
    const output = processOutput({ stdout, stderr, redact });
    const setExitCode = () => undefined;
    await runRequest({ environment, settings, redact, output, clock: Date.now, setExitCode }, body);
    return new Response(String(stdout.read()));
  };
  const { jwk, headers } = await operator;
  let now = NOW;
  // Slower than the limit of an identity's requests.
  const clock = () => (now += 300);
  const { app } = edgeFixture({ jwk, answers: { "/operations": answer }, clock });
  return async (path: string, fields?: Record<string, string>) => {
    const body = fields && new URLSearchParams(fields).toString();
    const form = { origin: HOST, "content-type": "application/x-www-form-urlencoded" };
    const init =
      body === undefined ? { headers } : { method: "POST", headers: { ...headers, ...form }, body };
    const response = await app.request(`${HOST}/_admin/${path}`, init);
    return { status: response.status, text: await response.text() };
  };
}

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), "steward-values-"));
  await writeConfig(home);
  using database = openStore(`${home}/state.db`);
  new Sessions(database).append({
    session: CONVERSATION,
    delivery: "E1",
    role: "user",
    text: "x",
    at: 1,
  });
  page = await edge(home);
  return () => rm(home, { recursive: true, force: true });
});

/** A text as HTML has it. */
function escaped(text: string): string {
  return text.replace(
    /[&<>"']/g,
    (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[character] ?? "",
  );
}

/** Wrong values, from people and from attackers. */
const wrong = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    "",
    " ",
    "-1",
    "--json",
    "--to",
    "<b>x</b>",
    "a; b: c",
    "9 o'clock",
    "* * * *",
    "99 * * * *",
    "0 9 * * 1-5 x",
  ),
  fc.constantFrom(
    "1 1 31 2 *",
    "2020-01-01T00:00:00Z",
    "2027-13-01T00:00:00Z",
    "soon",
    "0s",
    "-5m",
    "Mars/Olympus",
    "x".repeat(200),
  ),
  fc.string({ unit: fc.constantFrom("\t", "\n", "\0", "\u202e", "*", "/", " ", "1") }),
);
const blank = fc.string({ unit: fc.constantFrom(" ", "\t", "\n"), maxLength: 20 });

const SCHEDULE = {
  chat: "slack:C1",
  kind: "cron",
  when: "0 9 * * 1-5",
  timezone: "",
  content: "text",
  message: "Stand up!",
};

/** A form's field with values that are wrong for it. `fields` are those that go with a value. */
const FORMS: [
  name: string,
  path: string,
  values: fc.Arbitrary<string>,
  fields: (value: string) => Record<string, string>,
][] = [
  [
    "chat",
    "schedules/add",
    fc.oneof(
      blank,
      fc.string({ minLength: 129, maxLength: 300 }),
      fc.string({ maxLength: 20 }).map((text) => `${text}\n`),
    ),
    (chat) => ({ ...SCHEDULE, chat }),
  ],
  ["when", "schedules/add", wrong, (when) => ({ ...SCHEDULE, when })],
  ["when", "schedules/add", wrong, (when) => ({ ...SCHEDULE, kind: "every", when })],
  ["when", "schedules/add", wrong, (when) => ({ ...SCHEDULE, kind: "at", when })],
  ["timezone", "schedules/add", wrong, (timezone) => ({ ...SCHEDULE, timezone })],
  [
    "message",
    "schedules/add",
    fc.oneof(
      blank,
      fc.string({ maxLength: 9 }).map((text) => `${text}\0`),
    ),
    (message) => ({ ...SCHEDULE, message }),
  ],
  ["typed", "sessions/delete", wrong, (typed) => ({ conversation: CONVERSATION, typed })],
  [
    "text",
    "workspace/save",
    fc.oneof(
      wrong.map((text) => `${text}\0`),
      wrong.map((text) => text + "x".repeat(50_000)),
    ),
    (text) => ({ name: "AGENTS.md", expected: "none", text }),
  ],
];

describe("a wrong value", () => {
  it.each(FORMS)(
    `of %s in the form %s stays in its field, which is marked with a sentence (VALUES_SEED=${SEED})`,
    async (name, path, values, fields) => {
      let refused = 0;
      for (const value of fc.sample(values, { numRuns: RUNS, seed: SEED })) {
        const { status, text } = await page(path, fields(value));
        // Some are right by chance, such as a time zone of one letter.
        if (status === 303) continue;
        refused += 1;
        const told = JSON.stringify(value).slice(0, 80);
        expect([told, status, /problem\+json|Internal|TypeError/.test(text)]).toEqual([told, 400, false]);
        const field = new RegExp(`<(?:input|textarea)[^>]*name="${name}"[^>]*>`).exec(text)?.[0] ?? "";
        expect([told, field.includes('aria-invalid="true"')]).toEqual([told, true]);
        // A form is sent with the line ends of the network, and the page has those of the text.
        const kept = [`value="${escaped(value)}"`, `>\n${escaped(value)}</textarea>`];
        expect([told, kept.some((one) => text.includes(one))]).toEqual([told, true]);
        expect([told, /class="mark">[^<]{8,}[.!]\s*<|role="alert"/.test(text)]).toEqual([told, true]);
      }
      expect(refused).toBeGreaterThan(RUNS / 2);
    },
  );

  it(`of a new file's path stays in its field, which is marked (VALUES_SEED=${SEED})`, async () => {
    const bad = fc.oneof(
      blank,
      wrong.map((text) => `-${text}`),
      wrong.map((text) => `${text}\n`),
      fc.constant("x".repeat(301)),
      wrong.map((text) => `${text}\\`),
    );
    for (const value of fc.sample(bad, { numRuns: RUNS, seed: SEED })) {
      const { status, text } = await page(`workspace/file?${new URLSearchParams({ name: value })}`);
      const told = JSON.stringify(value).slice(0, 80);
      expect([told, status]).toEqual([told, 400]);
      expect([told, text.includes(escaped(value)), text.includes('role="alert"')]).toEqual([
        told,
        true,
        true,
      ]);
    }
  });

  it(`of the config stays, and every problem is said (VALUES_SEED=${SEED})`, async () => {
    // A stand-in for the supervisor, whose own checks have their own tests: it refuses every text.
    const { jwk, headers } = await operator;
    let now = NOW;
    const { app } = edgeFixture({
      jwk,
      clock: () => (now += 300),
      answers: {
        "/config-file?as=file": () => Response.json({ text: "{}\n", sha256: null }),
        "/config-file?expected=none&write=false": ({ body = "" }) =>
          Response.json(
            {
              ...problem("config_invalid", undefined, 422),
              problems: [{ path: "", message: "No JSON" }],
              text: body,
            },
            { status: 422 },
          ),
      },
    });
    for (const value of fc.sample(wrong, { numRuns: RUNS, seed: SEED })) {
      const response = await app.request(`${HOST}/_admin/config/review`, {
        method: "POST",
        headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ text: value, expected: "none" }).toString(),
      });
      const text = await response.text();
      const told = JSON.stringify(value).slice(0, 80);
      expect([told, response.status, text.includes("No JSON")]).toEqual([told, 422, true]);
      expect([told, text.includes(escaped(value.replaceAll("\r\n", "\n")))]).toEqual([told, true]);
    }
  });
});
