import { Hono, type Context } from "hono";
import type { AccountContext } from "../account/context.ts";
import { bucketOf } from "../account/lookup.ts";
import { ApiError, invalid, notModelled, ok } from "../envelope.ts";
import type { Bucket } from "../runner.ts";

/** Maximum and default number of objects per page. Cloudflare documents no default. */
const LONGEST_PAGE = 1000;

/**
 * Routes for R2 objects, which are read and written as a whole:
 * https://developers.cloudflare.com/api/resources/r2/subresources/buckets/subresources/objects/
 */
export function objectRoutes({ store, runner, faults }: AccountContext): Hono {
  const routes = new Hono();
  const inBucket = <T>(context: Context, work: (bucket: Bucket) => Promise<T>): Promise<T> => {
    const { name } = bucketOf(store.state, context.req.param("bucket") ?? "");
    return runner.withBucket(name, work);
  };

  routes.get("/:bucket/objects", async (context) => {
    const { per_page, cursor, prefix, start_after: startAfter } = context.req.query();
    const limit = per_page === undefined ? LONGEST_PAGE : Number(per_page);
    if (!Number.isInteger(limit) || limit < 1 || limit > LONGEST_PAGE)
      throw invalid(`per_page must be a whole number from 1 to ${LONGEST_PAGE}`);
    if (context.req.query("delimiter") !== undefined) throw notModelled("delimiters of object keys");
    const most = Math.min(limit, faults.objectsOnPage);
    const options = {
      limit: most,
      ...(cursor && { cursor }),
      ...(prefix && { prefix }),
      ...(startAfter && { startAfter }),
    };
    return inBucket(context, async (bucket) => {
      const page = await bucket.list(options);
      const next = page.truncated ? page.cursor : undefined;
      return ok(context, page.objects.map(present), {
        is_truncated: page.truncated,
        per_page: limit,
        ...(next !== undefined && { cursor: next }),
      });
    });
  });

  routes.delete("/:bucket/objects/:key{.+}", async (context) => {
    const key = keyOf(context);
    return inBucket(context, async (bucket) => {
      await bucket.delete(key);
      return ok(context, { key });
    });
  });

  routes.get("/:bucket/objects/:key{.+}", async (context) => {
    const key = keyOf(context);
    return inBucket(context, async (bucket) => {
      const found = await bucket.get(key);
      if (found === null) throw new ApiError(404, 10007, "The specified key does not exist.");
      return context.body(await found.arrayBuffer(), 200, {
        "content-type": found.httpMetadata?.contentType ?? "application/octet-stream",
        etag: found.httpEtag,
        "last-modified": found.uploaded.toUTCString(),
      });
    });
  });

  routes.put("/:bucket/objects/:key{.+}", async (context) => {
    const key = keyOf(context);
    const contentType = context.req.header("content-type");
    const options = { httpMetadata: contentType === undefined ? {} : { contentType } };
    const content = await context.req.arrayBuffer();
    return inBucket(context, async (bucket) => {
      const { etag, uploaded, version } = await bucket.put(key, content, options);
      const size = String(content.byteLength);
      return ok(context, { key, etag, size, version, uploaded, storage_class: "Standard" });
    });
  });

  return routes;
}

type Listed = Awaited<ReturnType<Bucket["list"]>>["objects"][number];

function present({ key, etag, size, uploaded, httpMetadata }: Listed): Record<string, unknown> {
  return {
    key,
    etag,
    size,
    last_modified: uploaded,
    http_metadata: { ...httpMetadata },
    storage_class: "Standard",
  };
}

/** Returns the object's key from the path. Rejects percent-encoded slashes, as Cloudflare does. */
function keyOf(context: Context): string {
  if (/%2f/i.test(new URL(context.req.url).pathname))
    throw invalid("The slashes of an object's key must not be percent-encoded");
  return context.req.param("key") ?? "";
}
