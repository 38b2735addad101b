/**
 * Node's HTTP as `require` gives it. An `import` of `node:http` reads every export, and one of them
 * (`WebSocket`) loads the whole of undici: 12 MB and 25 ms of a process that may never need it.
 */
export const { createServer, get } = process.getBuiltinModule("node:http");
