// Loaded first by the provider. The program checks the same, but a destroy does not run it.
const { existsSync } = require("node:fs");
const OLDEST_NODE = 24;
// A checkout has a Node of its own, an installed package has none.
const isCheckout = existsSync(require("node:path").join(__dirname, "main.ts"));
const launcher =
  "type `npm run pulumi --` in place of `pulumi`, which runs it with the Node of this checkout, or ";

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `steward needs Node ${OLDEST_NODE} or newer, and the \`node\` that Pulumi found on PATH is ${process.version}.\n` +
      `  fix: ${isCheckout ? launcher : ""}put Node ${OLDEST_NODE} first on PATH. [node_outdated]\n`,
  );
  process.exit(1);
}
