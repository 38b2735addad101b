import type { Handler } from "hono";
import { ROUTES } from "../contract/routes.ts";
import { ASSET_NAMES } from "./ui/asset-names.ts";
import { sendProblem } from "./problems.ts";

/** Reads a gzipped stylesheet or script by file name; `undefined` if it does not exist. */
export type ReadAsset = (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;

export type AssetName = keyof typeof ASSET_NAMES;

export function assetPath(name: AssetName): string {
  return ROUTES.asset.path.replace(":file", ASSET_NAMES[name]);
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
};
const HASHED = /-[A-Z0-9]{8}\.\w+$/;
const FILE = /^[\w-]+\.(?<extension>css|js|png|svg)$/;

/**
 * `GET /assets/<file>`: a stylesheet, script or image, compressed at build time. Public, because it contains no data.
 * Does not wake the container.
 */
export function asset(read: ReadAsset): Handler {
  return async function handleAsset(context) {
    const file = context.req.param("file") ?? "";
    const extension = FILE.exec(file)?.groups?.["extension"];
    const content = extension === undefined ? undefined : await read(file);
    if (extension === undefined || content === undefined) return sendProblem("not_found");
    const headers = {
      "cache-control": HASHED.test(file) ? "public, max-age=31536000, immutable" : "no-cache",
      "content-type": TYPES[extension] ?? "",
      vary: "accept-encoding",
    };
    if (!/\bgzip\b/.test(context.req.header("accept-encoding") ?? "")) {
      const plain = new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(plain, { headers });
    }
    // Without `encodeBody`, a Worker would compress the compressed body again:
    // https://developers.cloudflare.com/workers/runtime-apis/response/
    const encoded = { headers: { ...headers, "content-encoding": "gzip" }, encodeBody: "manual" };
    return new Response(content, encoded);
  };
}
