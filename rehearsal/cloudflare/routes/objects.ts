import { Hono, type Context } from "hono";
import type { AccountContext } from "../account/context.ts";
import { bucketOf } from "../account/lookup.ts";
import { ApiError, invalid, ok } from "../envelope.ts";
import type { Bucket } from "../runner.ts";

/**
 * Objects are read and written as a whole:
 * https://developers.cloudflare.com/api/resources/r2/subresources/buckets/subresources/objects/
 */
export function objectRoutes({ store, runner }: AccountContext): Hono {
  const routes = new Hono();
  const inBucket = <T>(context: Context, work: (bucket: Bucket) => Promise<T>): Promise<T> => {
    const { name } = bucketOf(store.state, context.req.param("bucket") ?? "");
    return runner.withBucket(name, work);
  };

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

/** Cloudflare takes the slashes of a key as they are, and asks not to encode them. */
function keyOf(context: Context): string {
  if (/%2f/i.test(new URL(context.req.url).pathname))
    throw invalid("The slashes of an object's key must not be percent-encoded");
  return context.req.param("key") ?? "";
}
