import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import { readConfigText } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { CONFIG_FILE, STATE_FILE } from "../../contract/names.ts";
import type { Redactor } from "../../contract/redact.ts";
import { unlessGone } from "./content.ts";
import { checkTables } from "./tables.ts";
import { countApprovals, countTables, LARGEST_LIST, listsApprovals, type Counts } from "./tally.ts";

/** What an unpacked archive is checked with. */
export interface CheckOptions {
  manifest: GenerationManifest;
  /** What the config file is checked against. */
  environment: Environment;
  redact: Redactor;
}

/**
 * Checks what was unpacked.
 *
 * @throws StewardError `backup_corrupt` where it is not what the manifest says.
 */
export async function checkUnpacked(
  directory: string,
  files: number,
  { manifest, environment, redact }: CheckOptions,
): Promise<RestoreReport> {
  const state = join(directory, STATE_FILE);
  const database = existsSync(state) ? state : undefined;
  if (database !== undefined) checkTables(database);
  const counts: Counts = {
    files,
    ...countTables(database),
    approvals: await approvalsBelow(directory),
  };
  const wrong = Object.entries(manifest.counts).filter(
    ([name, count]) => counts[name as keyof Counts] !== count,
  );
  if (wrong.length > 0) {
    const detail = wrong.map(
      ([name, count]) => `${counts[name as keyof Counts]} ${name} instead of ${count}`,
    );
    throw new StewardError("backup_corrupt", `The archive holds ${detail.join(", ")}.`);
  }
  const config = await unlessGone(readFile(join(directory, CONFIG_FILE)));
  const sha256 = config === undefined ? null : createHash("sha256").update(config).digest("hex");
  if (sha256 !== manifest.configSha256) {
    throw new StewardError("backup_corrupt", "The archive's config file is not the one of its manifest.");
  }
  const reading = config && readConfigText(config.toString("utf8"), environment).result;
  const problems = reading === undefined || reading.ok ? [] : reading.problems;
  const configProblems = problems.map(({ path, message }) => ({ path, message: redact(message) }));
  return { id: manifest.id, counts, configProblems };
}

async function approvalsBelow(directory: string): Promise<number> {
  let approvals = 0;
  for (const folder of ["credentials", "devices"]) {
    for (const file of (await unlessGone(readdir(join(directory, folder)))) ?? []) {
      const path = join(directory, folder, file);
      if (!listsApprovals(`${folder}/${file}`) || (await stat(path)).size > LARGEST_LIST) continue;
      approvals += countApprovals(await readFile(path, "utf8"));
    }
  }
  return approvals;
}
