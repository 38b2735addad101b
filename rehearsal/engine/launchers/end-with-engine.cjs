// Loaded first by what serves the engine.
const Module = require("node:module");

// The engine ends this process by a signal, after which Node would not write what it has compiled.
setTimeout(() => Module.flushCompileCache?.(), 1_000).unref();

// An engine that is killed cannot end this process, but the standard input ends with it. What is served ends the process
// with the engine too, from the first resource on, which a kill may come before.
process.stdin.once("end", () => process.exit()).resume();
// Reading standard input must not keep a process alive that failed before it served anything.
process.stdin.unref?.();
