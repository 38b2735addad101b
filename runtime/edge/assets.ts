import type { Handler } from "hono";
import { ROUTES } from "../contract/routes.ts";
import { ASSET_NAMES } from "./ui/asset-names.ts";
import { sendProblem } from "./problems.ts";

/** Reads the gzipped content of a style or script by its file name; `undefined` if there is no such file. */
export type ReadAsset = (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** A style or script of the pages. */
export type AssetName = keyof typeof ASSET_NAMES;

/** Returns the path at which a page loads a style or script. */
export function assetPath(name: AssetName): string {
  return ROUTES.asset.path.replace(":file", ASSET_NAMES[name]);
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
};
/** A name that contains the hash of the content, as esbuild makes it. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/;
const FILE = /^[\w-]+\.(?<extension>css|js|png|svg)$/;

/**
 * `GET /assets/<file>`: a style or script of the pages, as it was compressed when it was built. It holds no data, so
 * everyone may load it, and browsers keep it for as long as its name stays the same. Wakes nothing.
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
    // A Worker would compress the body once more without `encodeBody`; others ignore it:
    // https://developers.cloudflare.com/workers/runtime-apis/response/
    const encoded = { headers: { ...headers, "content-encoding": "gzip" }, encodeBody: "manual" };
    return new Response(content, encoded);
  };
}
