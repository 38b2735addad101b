import path from "node:path";
import * as z from "zod";

/** Hexadecimal digits of a hash that names something. */
export const BUNDLE_HASH_LENGTH = 16;

/** Digests that everything follows from: the hashes that the folders are named by, and the Worker's modules. */
export const builtSchema = z.strictObject({
  worker: z.string(),
  modules: z.array(z.string()),
  container: z.string(),
});
/** See {@link builtSchema}. */
export type Built = z.infer<typeof builtSchema>;

/** Folders of a bundle's parts, named by their hashes. */
export function bundleFolders(outdir: string, { worker, container }: Omit<Built, "modules">) {
  return {
    worker: path.join(outdir, `worker-${worker}`),
    container: path.join(outdir, `container-${container}`),
    image: path.join(outdir, `image-${container}`),
  };
}
