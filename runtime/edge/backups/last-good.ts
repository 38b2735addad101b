import type { GenerationManifest } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";

/**
 * The newest generation whose config was valid when it was made.
 *
 * @throws StewardError `config_no_good` where there is none.
 */
export function lastGood(generations: readonly GenerationManifest[]): GenerationManifest {
  const found = generations.find(({ configValid }) => configValid);
  if (found === undefined) throw new StewardError("config_no_good");
  return found;
}
