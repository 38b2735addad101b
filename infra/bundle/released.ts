import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { signerSchema } from "../registry/signature.ts";
import { IS_RELEASE, ROOT } from "../shell/package.ts";
import { builtSchema } from "./built.ts";

/** File of a package that says what was built into it. */
export const RELEASED = path.join("dist", "released.json");

/** Contents of {@link RELEASED}. */
export const releasedSchema = builtSchema.extend({
  /** The Node for an image that is built: its version, and the digest of each package that holds it. */
  node: z.strictObject({ version: z.string(), integrity: z.record(z.string(), z.string()) }),
  /** The image that was published with the package; absent in a package that somebody made of a checkout. */
  image: z.strictObject({ name: z.string(), signer: signerSchema }).optional(),
});
/** See {@link releasedSchema}. */
export type Released = z.infer<typeof releasedSchema>;

let known: Released | undefined;

/** Returns the build record of this package; `undefined` in a checkout, which builds from source. */
export function released(): Released | undefined {
  if (!IS_RELEASE) return undefined;
  known ??= releasedSchema.parse(JSON.parse(readFileSync(path.join(ROOT, RELEASED), "utf8")));
  return known;
}
