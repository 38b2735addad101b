import { existsSync, readFileSync } from "node:fs";
import { mendConfig } from "../../contract/config/mend.ts";
import { readConfigText } from "../../contract/config/text.ts";
import { keepCopy, withConfigLock } from "../../process/config-write.ts";
import { writeFileAtomic } from "../../process/files.ts";
import type { DoctorOptions } from "./finding.ts";
import { mendRights } from "./rights.ts";

/**
 * Mends what can be mended without losing anything. Twice in a row changes nothing more.
 *
 * @returns one line a change.
 */
export function mend(options: DoctorOptions, now: number): string[] {
  return [...mendFile(options, now), ...mendRights(options)];
}

/** All or nothing: what would still not be valid is not written. The file as it was is kept beside it. */
function mendFile({ settings, environment }: DoctorOptions, now: number): string[] {
  const path = settings.configPath;
  if (!existsSync(path)) return [];
  return withConfigLock(path, () => {
    const text = readFileSync(path, "utf8");
    const { value, result } = readConfigText(text, environment);
    if (result.ok || value === null) return [];
    const { value: mended, changes } = mendConfig(value);
    if (changes.length === 0) return [];
    const written = `${JSON.stringify(mended, null, 2)}\n`;
    if (!readConfigText(written, environment).result.ok) return [];
    const copy = keepCopy(path, text, now);
    writeFileAtomic(path, written);
    return [`config: the file as it was is kept as ${copy}`, ...changes];
  });
}
