/**
 * Delays the loading of modules that `@pulumi/pulumi` needs only to serialize functions, because loading them takes
 * over half of a command's startup time. Must be the first import, because other imports load `@pulumi/pulumi`.
 */
import Module, { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const requireOfPulumi = createRequire(require.resolve("@pulumi/pulumi/package.json"));

for (const name of ["@npmcli/arborist", "normalize-package-data", "typescript"]) loadLate(name);

function loadLate(name: string): void {
  let file: string;
  try {
    file = requireOfPulumi.resolve(name);
  } catch {
    // Without an installed TypeScript, `@pulumi/pulumi` loads its bundled copy.
    return;
  }
  const placeholder = new Module(file);
  placeholder.loaded = true;
  placeholder.exports = new Proxy({}, { get: (_, key) => memberOf(file, placeholder, key) });
  require.cache[file] ??= placeholder;
}

function memberOf(file: string, placeholder: NodeJS.Module, key: string | symbol): unknown {
  // Compiled TypeScript reads this key on import, when the module must not load yet.
  if (key === "__esModule") return true;
  if (require.cache[file] === placeholder) delete require.cache[file];
  const loaded = require(file);
  return key === "default" && !loaded.__esModule ? loaded : loaded[key];
}
