import { parseJson } from "../../runtime/shared/json.ts";
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";

/** A build whose result is kept, and what it is made of. */
export interface CachedBuild<Result> {
  /** Place where the result is kept. */
  file: string;
  /** Content from the code that this process has loaded, which may be older than the sources. */
  texts: readonly string[];
  /** Folder that the paths of sources are relative to. */
  root: string;
  /** Files, and folders with all that is in them. Whether one is there counts too. */
  sources: readonly string[];
  /** Condition under which a kept result can be used. */
  result: z.ZodType<Result>;
  /** Builds, and tells which files were read for it, of the sources or not. */
  build(): Promise<{ result: Result; read: readonly string[] }>;
}

/** `made` and `used` are hashes: over texts and sources, and over the files that were read. */
const entrySchema = z.strictObject({ made: z.string(), read: z.array(z.string()), used: z.string() });

/**
 * The result of a build, from the one before where all that went into that is the same. By content, since times tell
 * nothing: to read the files takes a twentieth of what bundling them does. What is kept and makes no sense does not
 * count.
 */
export async function loadOrBuild<Result>(options: CachedBuild<Result>): Promise<Result> {
  const { file, root, build } = options;
  const made = hashOfSources(options);
  const former = await previousResult(options, made);
  if (former !== undefined) return former;

  const { result, read } = await build();
  // It is unknown whether the result contains what changed meanwhile.
  if (hashOfSources(options) === made) {
    const files = [...new Set(read)].sort();
    await writeWhole(file, JSON.stringify({ made, read: files, used: hashOf(root, files), result }));
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

/** Over names, contents, and the lengths that keep them apart. */
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

async function writeWhole(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.partial`;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(temporary, text);
  await rename(temporary, file);
}
