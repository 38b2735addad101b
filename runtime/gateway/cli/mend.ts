import { existsSync, readFileSync } from "node:fs";
import { mendConfigValue, moveSecrets } from "../../contract/config/mend.ts";
import { readConfigText } from "../../contract/config/text.ts";
import { saveConfigCopy, withConfigLock } from "../../process/config-file.ts";
import { writeFileAtomic } from "../../process/files.ts";
import type { CommandContext } from "./context.ts";

/**
 * Makes all lossless repairs of the config file, or none if the result would be invalid. Saves a copy of the old
 * file.
 *
 * @returns one line per change.
 */
export function mendFile({ settings, environment, clock }: CommandContext): string[] {
  const path = settings.configPath;
  if (!existsSync(path)) return [];
  return withConfigLock(path, () => {
    const text = readFileSync(path, "utf8");
    const { value, result } = readConfigText(text, environment);
    if (value === null) return [];
    const { value: mended, changes: carried } = result.ok ? { value, changes: [] } : mendConfigValue(value);
    const changes = [...carried, ...moveSecrets(mended, environment)];
    if (changes.length === 0) return [];
    const written = `${JSON.stringify(mended, null, 2)}\n`;
    if (!readConfigText(written, environment).result.ok) return [];
    const copy = saveConfigCopy(path, text, clock());
    writeFileAtomic(path, written);
    return [`config: saved the old file as ${copy}`, ...changes];
  });
}
