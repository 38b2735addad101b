import { Hono } from "hono";
import { afterEach, expect, test } from "vitest";
import { removeBucket } from "../../../infra/serverless/bucket-api.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { ACCOUNT, TOKEN } from "../../rehearsal/support.ts";

const OWNER = ".steward-owner.json";
const BUCKET = "a-bucket";

let account: Listening | undefined;

afterEach(async () => {
  await account?.close();
  account = undefined;
});

/** Lists at most 1,000 objects at a time, and deletes a bucket only if it is empty, as Cloudflare does. */
async function startAccount(objects: Set<string>, deleted: string[]): Promise<string> {
  const ok = (result: unknown, info: object = {}) => ({
    success: true,
    errors: [],
    messages: [],
    result,
    result_info: info,
  });
  const app = new Hono();
  const bucket = `/accounts/${ACCOUNT}/r2/buckets/${BUCKET}`;
  app.get(`${bucket}/objects`, (context) => {
    const { per_page: most = "20", cursor = "0" } = context.req.query();
    expect(Number(most)).toBeLessThanOrEqual(1_000);
    const begin = Number(cursor);
    const end = begin + Number(most);
    const page = [...objects].slice(begin, end).map((key) => ({ key }));
    const isMore = objects.size > end;
    return context.json(ok(page, { is_truncated: isMore, ...(isMore && { cursor: String(end) }) }));
  });
  app.delete(`${bucket}/objects/:key{.+}`, (context) => {
    const key = context.req.param("key");
    objects.delete(key);
    deleted.push(key);
    return context.json(ok({ key }));
  });
  app.delete(bucket, (context) =>
    objects.size === 0 ? context.json(ok({})) : context.json({ success: false }, 409),
  );
  account = await listen(app, { hostname: "127.0.0.1", port: 0 });
  return account.url;
}

test("a bucket with more objects than Cloudflare lists at once is emptied in steps, the marker last", async () => {
  const keys = Array.from({ length: 1_003 }, (_, number) => `steward/generations/${number}`);
  const objects = new Set([OWNER, ...keys]);
  const deleted: string[] = [];
  const told: number[] = [];
  const baseURL = await startAccount(objects, deleted);

  const count = await removeBucket({ accountId: ACCOUNT, apiToken: TOKEN, baseURL }, BUCKET, (so) =>
    told.push(so),
  );

  expect(count).toBe(1_003);
  expect(told).toEqual([1_000]);
  expect(objects.size).toBe(0);
  expect(deleted).toHaveLength(1_004);
  expect(deleted.at(-1)).toBe(OWNER);
});
