/** Weigh memory above speed where the heap may grow, and compile only what runs really often. */
const MODEST = [
  "--optimize-for-size",
  "--invocation-count-for-maglev=4000",
  "--invocation-count-for-turbofan=20000",
];

/**
 * From here on V8 takes less memory. Each process asks for it once it serves: with other flags than Node was built
 * with V8 does not count what Node brings along compiled, its own modules, which is a fifth of a start
 * (`npm run bench -- --only start`). Without it a thousand messages leave two fifths more behind (`--only memory`).
 */
export function reduceMemoryUse(): void {
  // Not by an import, which would load Node's streams before the port is open.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  for (const flag of MODEST) setFlagsFromString(flag);
}
