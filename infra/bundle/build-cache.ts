import { parseJson } from "../../runtime/shared/json.ts";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { writeFileAtomically } from "../shell/cache.ts";

export interface CachedBuild<Result> {
  file: string;
  /**
   * Texts of generated inputs, such as a JSON schema. The texts are hashed instead of their source files, which may
   * have changed since this process started.
   */
  texts: readonly string[];
  /** Base folder of relative paths. */
  root: string;
  /** Files and folders (recursive) from which the result is built. */
  sources: readonly string[];
  result: z.ZodType<Result>;
  /** Builds the result. Also returns all files that were read, including files outside of `sources`. */
  build(): Promise<{ result: Result; read: readonly string[] }>;
}

/** `made` is a hash of the declared inputs, `used` a hash of the files actually read. */
const entrySchema = z.strictObject({ made: z.string(), read: z.array(z.string()), used: z.string() });

/**
 * Returns the cached result if its inputs have not changed, otherwise builds. Compares contents, because modification
 * times are unreliable.
 */
export async function loadOrBuild<Result>(options: CachedBuild<Result>): Promise<Result> {
  const { file, root, build } = options;
  const made = hashOfSources(options);
  const former = await previousResult(options, made);
  if (former !== undefined) return former;

  const { result, read } = await build();
  // Cache only if the sources did not change during the build.
  if (hashOfSources(options) === made) {
    const files = [...new Set(read)].sort();
    await writeFileAtomically(file, JSON.stringify({ made, read: files, used: hashOf(root, files), result }));
  }
  return result;
}

async function previousResult<Result>(
  { file, root, result }: CachedBuild<Result>,
  made: string,
): Promise<Result | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const entry = entrySchema.extend({ result }).safeParse(parseJson(text));
  if (!entry.success || entry.data.made !== made) return undefined;
  return hashOf(root, entry.data.read) === entry.data.used ? entry.data.result : undefined;
}

function hashOfSources<Result>({ texts, root, sources }: CachedBuild<Result>): string {
  return hashOf(
    root,
    sources.flatMap((name) => filesOf(root, name)),
    texts,
  );
}

/** Hashes texts and files. Adds each file's length, so that moving bytes between files changes the hash. */
function hashOf(root: string, names: readonly string[], texts: readonly string[] = []): string {
  const hash = createHash("sha256").update(JSON.stringify(texts));
  for (const name of names) {
    const content = contentOf(path.join(root, name));
    hash.update(`${name}\0${content?.byteLength ?? "missing"}\0`).update(content ?? "");
  }
  return hash.digest("hex");
}

function filesOf(root: string, name: string): string[] {
  const place = path.join(root, name);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [name];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))).sort();
}

function contentOf(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
