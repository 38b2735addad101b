import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { docker } from "../../infra/shell/docker.ts";
import { stewardImage } from "../../infra/bundle/image.ts";

export const GREEDY = "const held = []; for (;;) held.push(Buffer.alloc(16 << 20, 1));";

/** Builds this checkout's image with some programs below /app replaced. The caller removes the image. */
export async function changedImage(tag: string, programs: Record<string, string>): Promise<string> {
  const { image } = await stewardImage(await buildBundle(), () => {});
  const context = await mkdtemp(path.join(tmpdir(), "steward-changed-"));
  const copies = await Promise.all(
    Object.entries(programs).map(async ([program, text], index) => {
      await writeFile(path.join(context, String(index)), text);
      return `COPY ${index} /app/${program}`;
    }),
  );
  await writeFile(path.join(context, "Dockerfile"), [`FROM ${image}`, ...copies].join("\n"));
  await docker(["build", "--quiet", `--tag=${tag}`, context]);
  await rm(context, { recursive: true });
  return tag;
}
