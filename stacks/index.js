// The entry of every stack. It is plain JavaScript, so that also a Node that cannot load TypeScript gets as far as here.
import * as pulumi from "@pulumi/pulumi";

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  throw new pulumi.RunError(
    `steward needs Node ${OLDEST_NODE} or newer, and the \`node\` that Pulumi found on PATH is ${process.version}.\n` +
      "  fix: type `npm run pulumi --` in place of `pulumi`, which runs it with the Node of this checkout, " +
      `or put Node ${OLDEST_NODE} first on PATH. [node_outdated]`,
  );
}

const { program } = await import("./program.ts");
export default program;
