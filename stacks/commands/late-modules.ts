/**
 * Keeps `@pulumi/pulumi` from loading what only serialises functions: the TypeScript compiler and npm's dependency
 * tree, more than half of a command's start. Whatever asks for them gets them then. The commands import this module
 * first, because others load `@pulumi/pulumi` when they are imported.
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
    // Without a TypeScript beside it, `@pulumi/pulumi` loads the one that it includes.
    return;
  }
  const placeholder = new Module(file);
  placeholder.loaded = true;
  placeholder.exports = new Proxy({}, { get: (_, key) => memberOf(file, placeholder, key) });
  require.cache[file] ??= placeholder;
}

function memberOf(file: string, placeholder: NodeJS.Module, key: string | symbol): unknown {
  // TypeScript's output asks for this before anything else, to learn how to import the module.
  if (key === "__esModule") return true;
  if (require.cache[file] === placeholder) delete require.cache[file];
  const loaded = require(file);
  return key === "default" && !loaded.__esModule ? loaded : loaded[key];
}
