import { transform } from "esbuild";
import { readFile } from "node:fs/promises";

export interface WorkerModule {
  type: "esm";
  contents: string;
}

export interface WrapperOptions {
  mainModule: string;
  /** Classes that get a stand-in for `ctx.container`. */
  classes: readonly { className: string; namespaceId: string }[];
  /** URL of the process host, including the access secret. */
  host: string;
  /** `<namespace>/<object>` of each running container. */
  running: readonly string[];
}

/** No bundler generates such a name. */
export const WRAPPER_MODULE = "__rehearsal/entry.js";
const STAND_IN_MODULE = "__rehearsal/standin.js";

/**
 * Returns modules that wrap an unmodified bundle. Each container class gets a subclass that replaces `ctx.container`.
 */
export async function wrapperModules(options: WrapperOptions): Promise<Record<string, WorkerModule>> {
  const source = await readFile(new URL("standin.ts", import.meta.url), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "esm" });
  return {
    [WRAPPER_MODULE]: { type: "esm", contents: entry(options) },
    [STAND_IN_MODULE]: { type: "esm", contents: code },
  };
}

function entry({ mainModule, classes, host, running }: WrapperOptions): string {
  const main = JSON.stringify(`../${mainModule}`);
  const lines = [
    `import { ContainerStandIn, alreadyRunning } from "./standin.js";`,
    `export * from ${main};`,
    `export { default } from ${main};`,
    `alreadyRunning(${JSON.stringify(running)});`,
  ];
  for (const [index, { className, namespaceId }] of classes.entries()) {
    lines.push(
      `import { ${className} as Base${index} } from ${main};`,
      `export class ${className} extends Base${index} {`,
      "  constructor(ctx, env) {",
      "    const value = new ContainerStandIn({",
      // Do not pass the host's address in `env`, which must contain only deployed bindings.
      `      host: ${JSON.stringify(host)},`,
      `      namespaceId: ${JSON.stringify(namespaceId)},`,
      "      objectId: ctx.id.toString(),",
      "      waitUntil: (promise) => ctx.waitUntil(promise),",
      "    });",
      `    Object.defineProperty(ctx, "container", { value });`,
      "    super(ctx, env);",
      "  }",
      "}",
    );
  }
  return lines.join("\n");
}
