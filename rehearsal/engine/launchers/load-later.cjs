// Loaded first by what serves dynamic resources. @pulumi/pulumi loads npm's dependency tree, the TypeScript compiler
// and the Automation API with it, two thirds of the process's start. They are for programs, which serialise functions;
// what runs the serialised ones asks for none of them. Whoever asks all the same gets them then.
const Module = require("node:module");

const LATER = new Set(["@npmcli/arborist", "typescript", "./automation"]);
const load = Module._load;

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

// The engine ends this process by a signal, after which Node would not write what it has compiled.
setTimeout(() => Module.flushCompileCache?.(), 1_000).unref();

// An engine that is killed cannot end this process, but the standard input ends with it. What is served ends the process
// with the engine too, from the first resource on, which a kill may come before.
process.stdin.once("end", () => process.exit()).resume();
