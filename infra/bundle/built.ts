import path from "node:path";
import * as z from "zod";

/** Hexadecimal digits. */
export const BUNDLE_HASH_LENGTH = 16;

/** The Worker's modules, and the hashes that name the bundle's folders. */
export const builtSchema = z.strictObject({
  worker: z.string(),
  modules: z.array(z.string()),
  container: z.string(),
});
export type Built = z.infer<typeof builtSchema>;

export function bundleFolders(outdir: string, { worker, container }: Omit<Built, "modules">) {
  return {
    worker: path.join(outdir, `worker-${worker}`),
    container: path.join(outdir, `container-${container}`),
    image: path.join(outdir, `image-${container}`),
  };
}
