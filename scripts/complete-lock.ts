/**
 * Adds missing platform packages to package-lock.json: `npm run lock`. Run this after any change of dependencies.
 * With `--check`, only reports missing packages.
 *
 * npm omits an optional package that the registry lacks for a platform. `npm ci` then fails on every machine.
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";

interface LockEntry {
  version?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const LOCK = new URL("../package-lock.json", import.meta.url);
const SYSTEMS = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "openharmony",
  "win32",
  "netbsd",
  "openbsd",
  "sunos",
  "aix",
];
const PROCESSORS = [
  "arm64",
  "arm",
  "x64",
  "ia32",
  "ppc64",
  "riscv64",
  "s390x",
  "loong64",
  "mips64el",
  "wasm32",
];
const LIBRARIES = { gnu: "glibc", gnueabihf: "glibc", musl: "musl", musleabihf: "musl" } as const;
// Parts of workerd's package names that differ from Node's names.
const ALIASES: Record<string, string> = { "64": "x64", windows: "win32" };

/** Parses a name such as `binding-linux-arm64-musl`. */
function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[-/]/).map((word) => ALIASES[word] ?? word);
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  const libc = Object.entries(LIBRARIES).flatMap(([word, library]) =>
    words.includes(word) ? [library] : [],
  );
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }) };
}

const lock = JSON.parse(await readFile(LOCK, "utf8")) as { packages: Record<string, LockEntry> };
const added: string[] = [];
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const platform = platformOf(name);
    // Only packages with a platform in their name contain binaries.
    if (Object.keys(lock.packages).some((known) => known.endsWith(key)) || !platform.os) continue;
    lock.packages[key] = { version, optional: true, ...platform };
    added.push(`${name}@${version}`);
  }
}

if (process.argv.includes("--check")) {
  if (added.length > 0) {
    process.stderr.write(`package-lock.json lacks ${added.join(", ")}.\nFix: npm run lock\n`);
    process.exitCode = 1;
  }
} else {
  const unverified = Object.entries(lock.packages).filter(
    ([key, { integrity, link }]) => key !== "" && integrity === undefined && link !== true,
  );
  let unknown = 0;
  for (const [key, entry] of unverified) {
    const integrity = await integrityOf(`${key.replace(/^.*node_modules\//, "")}@${entry.version}`);
    if (integrity === undefined) unknown += 1;
    else entry.integrity = integrity;
  }
  const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(LOCK, `${JSON.stringify({ ...lock, packages: sorted }, undefined, 2)}\n`);
  process.stdout.write(`package-lock.json: ${added.length} platform packages added\n`);
  if (unknown > 0) {
    process.stdout.write(
      `${unknown} packages have no integrity value, because this registry does not serve them. Run this with a registry that does.\n`,
    );
  }
}

/** Returns `undefined` if the registry lacks the package. */
async function integrityOf(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("npm", ["view", name, "dist.integrity"]);
    return /^sha512-\S+$/m.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}
