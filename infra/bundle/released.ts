import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { signerSchema } from "../registry/signature.ts";
import { IS_RELEASE, ROOT } from "../shell/package.ts";
import { builtSchema } from "./built.ts";

export const BUILD_RECORD_FILE = path.join("dist", "released.json");

export const buildRecordSchema = builtSchema.extend({
  /** Node.js for images that the user builds: its version, and the digest of each platform's npm package. */
  node: z.strictObject({ version: z.string(), integrity: z.record(z.string(), z.string()) }),
  /** The image published with the package; absent in a package that was built from a checkout. */
  image: z.strictObject({ name: z.string(), signer: signerSchema }).optional(),
});
export type BuildRecord = z.infer<typeof buildRecordSchema>;

let cachedRecord: BuildRecord | undefined;

/** Returns this package's build record; `undefined` in a checkout, which builds from source. */
export function readBuildRecord(): BuildRecord | undefined {
  if (!IS_RELEASE) return undefined;
  cachedRecord ??= buildRecordSchema.parse(
    JSON.parse(readFileSync(path.join(ROOT, BUILD_RECORD_FILE), "utf8")),
  );
  return cachedRecord;
}
