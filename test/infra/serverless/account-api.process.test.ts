import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  askAccount,
  callAccount,
  listInAccount,
  rethrowAsUnknown,
} from "../../../infra/serverless/account-api.ts";
import { explain } from "../../../infra/shell/explain.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { ACCOUNT, TOKEN } from "../../rehearsal/support.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The answers to the requests for a path. The last one stays. */
const answers = new Map<string, Answer[]>();
const asked: string[] = [];
const server = createServer((request, response) => {
  const below = request.url?.replace(`/accounts/${ACCOUNT}/`, "") ?? "";
  asked.push(`${request.method} ${below}`);
  const left = answers.get(below.replace(/\?.*/, "")) ?? [];
  const [answer] = left.length > 1 ? left.splice(0, 1) : left;
  answer?.(request, response);
});

beforeAll(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening)));
afterAll(() => new Promise((closed) => server.close(closed)));

const access = (apiToken = TOKEN) => ({
  accountId: ACCOUNT,
  apiToken,
  baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
});
const ok =
  (result: unknown, info?: object): Answer =>
  (_, response) =>
    response.end(JSON.stringify({ success: true, result, result_info: info }));
const fails =
  (status: number, headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end('{"errors":[{"code":7,"message":"no"}]}');
/** Ends the connection in the middle of the answer. */
const breaksOff: Answer = (_, response) => {
  response.writeHead(200, { "content-length": 100 });
  response.write('{"result":', () => response.destroy());
};
const sent = (path: string) => asked.filter((line) => line.includes(` ${path}`));

test("every request is sent three times at most while Cloudflare fails for a moment", async () => {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
  const check = async (method: (typeof methods)[number]): Promise<void> => {
    answers
      .set(`mended-${method}`, [fails(503), breaksOff, ok("done")])
      .set(`broken-${method}`, [fails(503)]);
    const refused = { status: 503, message: "Cloudflare answered 503: no (7)" };
    await Promise.all([
      expect(askAccount(access(), `mended-${method}`, { method })).resolves.toBe("done"),
      expect(askAccount(access(), `broken-${method}`, { method })).rejects.toMatchObject(refused),
    ]);
    expect(sent(`broken-${method}`)).toEqual(Array(3).fill(`${method} broken-${method}`));
  };
  await Promise.all(methods.map(check));
});

test("a request that must not be repeated is sent once", async () => {
  answers.set("once", [breaksOff]);
  const once = askAccount(access(), "once", { method: "POST", attempts: 1 });
  await expect(once).rejects.toMatchObject({ status: 0 });
  expect(sent("once")).toHaveLength(1);
});

test("Cloudflare is given the time that it asks for", async () => {
  answers.set("throttled", [fails(429, { "retry-after": "1" }), ok("done")]);
  const started = performance.now();
  expect(await askAccount(access(), "throttled")).toBe("done");
  expect(performance.now() - started).toBeGreaterThan(950);
});

test("what is gone is nothing to one question and a refusal to another, and is not asked for again", async () => {
  answers.set("gone", [fails(404)]);
  expect(await askAccount(access(), "gone", { method: "DELETE" })).toBeUndefined();
  await expect(callAccount(access(), "gone")).rejects.toMatchObject({ status: 404 });
  expect(sent("gone")).toHaveLength(2);
});

test.each([
  ["cursor", { cursor: "a b" }, "cursor=a+b"],
  ["token", { next_page_token: "t" }, "page_token=t"],
])("a list is read by its %s to the end", async (name, info, query) => {
  answers.set(name, [ok([1, 2], info), ok([3], {})]);
  const items: unknown[] = [];
  for await (const item of listInAccount(access(), name, { name: "y" })) items.push(item);
  expect(items).toEqual([1, 2, 3]);
  expect(sent(name)).toEqual([`GET ${name}?name=y`, `GET ${name}?name=y&${query}`]);
});

test("without a token nothing is sent", async () => {
  await expect(askAccount(access(""), "tokenless")).rejects.toMatchObject({ code: "token_refused" });
  expect(sent("tokenless")).toEqual([]);
});

test("a question without an answer is explained with its code", async () => {
  const explained = async (path: string, answer: Answer) => {
    answers.set(path, [answer]);
    const asking = askAccount(access(), path).catch(rethrowAsUnknown("x exists"));
    return explain(await asking.catch((error: unknown) => error), commandsFor("dev"));
  };
  const told = (status: number) => ({
    cause: `Could not check whether x exists: Cloudflare answered ${status}: no (7)`,
  });
  const [failing, refused, lost] = await Promise.all([
    explained("failing", fails(500)),
    explained("refused", fails(403)),
    explained("lost", breaksOff),
  ]);
  expect(failing).toMatchObject({ code: "cloudflare_unavailable", ...told(500) });
  expect(refused).toMatchObject({ code: "token_permission_missing", ...told(403) });
  expect(lost).toMatchObject({ code: "cloudflare_unreachable" });
});
