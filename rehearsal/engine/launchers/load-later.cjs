// Loaded first by what the engine starts. @pulumi/pulumi loads npm's dependency tree, the TypeScript compiler, the
// Automation API, tracing and rules for versions, three quarters of its start. They serialise functions, resolve packages
// and report spans, which nothing here asks for. Whoever asks all the same gets them then.
const Module = require("node:module");

const LATER = new Set([
  "@npmcli/arborist",
  "@opentelemetry/api",
  "normalize-package-data",
  "semver",
  "typescript",
  "./automation",
]);
/** Maps each stack trace, of which @pulumi/pulumi takes one a promise: a fifth of a program. Ours need no mapping. */
const NEVER = "source-map-support/register";
const load = Module._load;

function loadLater(request, ...rest) {
  if (request === NEVER) return {};
  if (!LATER.has(request)) return load.call(this, request, ...rest);
  let loaded;
  const get = (_, key) => {
    // What a compiled module asks first, to know how to take this one.
    if (key === "__esModule") return true;
    loaded ??= load.call(this, request, ...rest);
    return key === "default" && !loaded.__esModule ? loaded : loaded[key];
  };
  return new Proxy({}, { get });
}

Module._load = loadLater;
