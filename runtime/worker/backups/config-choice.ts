import type { ConfigSource, GenerationManifest } from "../../contract/backup.ts";
import type { Cached } from "./cached.ts";

/** Which config file the container begins with. */
export interface ConfigChoice {
  source: ConfigSource;
  /** The text that somebody put into the bucket by hand, which takes the file's place. */
  byHand?: string;
}

/**
 * The cached config counts where somebody wrote it by hand; both objects deleted ask for a fresh one from the
 * environment (specification, sections 2 and 7). Else the generation's own is the newest.
 */
export function chooseConfig(
  { config, marker }: Cached,
  manifest: GenerationManifest | undefined,
): ConfigChoice {
  if (config === undefined)
    return { source: manifest === undefined || marker === undefined ? "fresh" : "generation" };
  if (manifest === undefined) return { source: "fresh", byHand: config.text };
  const same = config.synced || config.sha256 === manifest.configSha256;
  return { source: "generation", ...(!same && { byHand: config.text }) };
}
