// Loaded first by the provider. The program checks the same, but a destroy does not run it.
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `steward needs Node ${OLDEST_NODE} or newer, and the \`node\` that Pulumi found on PATH is ${process.version}.\n` +
      "  fix: type `npm run pulumi --` in place of `pulumi`, which runs it with the Node of this package, " +
      `or put Node ${OLDEST_NODE} first on PATH. [node_outdated]\n`,
  );
  process.exit(1);
}
