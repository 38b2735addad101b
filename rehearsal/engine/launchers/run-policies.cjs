// Runs a policy pack, as @pulumi/pulumi/cmd/run-policy-pack does: that one always loads the TypeScript compiler, half of
// its start, and this project's pack is compiled. Arguments: the engine's address, which is in the environment too, and
// the pack's folder.
require("./load-later.cjs");
require("./end-with-engine.cjs");
const { run } = require(`${process.env.STEWARD_NODE_MODULES}/@pulumi/pulumi/cmd/run-policy-pack/run.js`);

/** How the engine's host is told that an error was printed already. */
const PRINTED = 32;

run({
  argv: { _: process.argv.slice(3) },
  programStarted: () => undefined,
  reportLoggedError: () => void (process.exitCode = PRINTED),
  typeScript: false,
});
