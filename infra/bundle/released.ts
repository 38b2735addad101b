import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { signerSchema } from "../registry/signature.ts";
import { IS_RELEASE, ROOT } from "../shell/package.ts";
import { builtSchema } from "./built.ts";

/** File of a package that says what was built into it. */
export const BUILD_RECORD_FILE = path.join("dist", "released.json");

/** Contents of {@link BUILD_RECORD_FILE}. */
export const buildRecordSchema = builtSchema.extend({
  /** The Node for an image that is built: its version, and the digest of each package that holds it. */
  node: z.strictObject({ version: z.string(), integrity: z.record(z.string(), z.string()) }),
  /** The image that was published with the package; absent in a package that somebody made of a checkout. */
  image: z.strictObject({ name: z.string(), signer: signerSchema }).optional(),
});
/** See {@link buildRecordSchema}. */
export type BuildRecord = z.infer<typeof buildRecordSchema>;

let cachedRecord: BuildRecord | undefined;

/** Returns the build record of this package; `undefined` in a checkout, which builds from source. */
export function readBuildRecord(): BuildRecord | undefined {
  if (!IS_RELEASE) return undefined;
  cachedRecord ??= buildRecordSchema.parse(
    JSON.parse(readFileSync(path.join(ROOT, BUILD_RECORD_FILE), "utf8")),
  );
  return cachedRecord;
}
