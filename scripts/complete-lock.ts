/**
 * Completes package-lock.json with the platform packages that a registry did not serve.
 *
 * Some packages name a binary for each platform as an optional dependency. Where a registry lacks
 * one of them, npm writes a lock file without it and `npm ci` then refuses the lock file everywhere
 * ("Missing: … from lock file"). An entry with the version that the parent names and its platform
 * mends that, and the other platforms still get their binaries.
 *
 * Run it after any change of dependencies: `npm run lock`. With `--check` it only tells whether
 * something is missing.
 */
import { readFile, writeFile } from "node:fs/promises";

interface LockEntry {
  version?: string;
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
// workerd's names say "64" for x64 and "windows" for win32.
const ALIASES: Record<string, string> = { "64": "x64", windows: "win32" };

/** The platform that a package's name tells, for example `binding-linux-arm64-musl`. */
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
    // Without a platform in its name it is an ordinary package: leaving it out was npm's decision.
    if (Object.keys(lock.packages).some((known) => known.endsWith(key)) || !platform.os) continue;
    lock.packages[key] = { version, optional: true, ...platform };
    added.push(`${name}@${version}`);
  }
}

if (added.length > 0 && process.argv.includes("--check")) {
  process.stderr.write(`package-lock.json lacks ${added.join(", ")}.\nFix: npm run lock\n`);
  process.exitCode = 1;
} else if (added.length > 0) {
  const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(LOCK, `${JSON.stringify({ ...lock, packages: sorted }, undefined, 2)}\n`);
  process.stdout.write(`package-lock.json: ${added.length} platform packages added\n`);
}
