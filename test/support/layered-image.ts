import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { docker } from "../../infra/shell/docker.ts";

const EMPTY = Buffer.alloc(1_024);

/** Loads an image with many empty layers into Docker (https://github.com/moby/docker-image-spec). */
export async function loadLayeredImage(
  name: string,
  { layers, architecture = "amd64" }: { layers: number; architecture?: string },
): Promise<void> {
  const diffId = `sha256:${createHash("sha256").update(EMPTY).digest("hex")}`;
  const names = Array.from({ length: layers }, (_, index) => `${index}/layer.tar`);
  const config = { architecture, os: "linux", rootfs: { type: "layers", diff_ids: names.map(() => diffId) } };
  const archive = pack();
  archive.entry({ name: "config.json" }, JSON.stringify({ ...config, config: {}, history: [] }));
  for (const layer of names) archive.entry({ name: layer }, EMPTY);
  const manifest = [{ Config: "config.json", RepoTags: [name], Layers: names }];
  archive.entry({ name: "manifest.json" }, JSON.stringify(manifest));
  archive.finalize();
  const dir = await mkdtemp(join(tmpdir(), "steward-image-"));
  try {
    const file = createWriteStream(join(dir, "image.tar"));
    await once(archive.pipe(file), "finish");
    await docker(["load", "--quiet", "--input", join(dir, "image.tar")]);
  } finally {
    await rm(dir, { recursive: true });
  }
}
