// Loaded first by what the engine starts. @pulumi/pulumi loads npm's dependency tree, the TypeScript compiler and the
// Automation API, two thirds of its start. They serialise functions and resolve packages, which nothing here asks for.
// Whoever asks all the same gets them then.
const Module = require("node:module");

const LATER = new Set(["@npmcli/arborist", "typescript", "./automation"]);
const load = Module._load;

/** By a variable of the environment this module is loaded by whatever such a process starts, too: npm needs its own. */
const isPulumi = /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]|run-policies/.test(process.argv[1] ?? "");

if (isPulumi)
  Module._load = function loadLater(request, ...rest) {
    if (!LATER.has(request)) return load.call(this, request, ...rest);
    let loaded;
    const get = (_, key) => {
      // What a compiled module asks first, to know how to take this one.
      if (key === "__esModule") return true;
      loaded ??= load.call(this, request, ...rest);
      return loaded[key];
    };
    return new Proxy({}, { get });
  };
