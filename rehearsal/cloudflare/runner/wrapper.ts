import { transform } from "esbuild";
import { readFile } from "node:fs/promises";

/** A module as Miniflare takes it. */
export interface WorkerModule {
  type: "esm";
  contents: string;
}

export interface WrapperOptions {
  /** The uploaded main module's name. */
  mainModule: string;
  /** The classes that get a stand-in for `ctx.container`. */
  classes: readonly { className: string; namespaceId: string }[];
  /** The process host's address with its secret. */
  host: string;
  /** `<namespace>/<object>` of the containers that run at this moment. */
  running: readonly string[];
}

/** The wrapper's module names. No bundler writes such names. */
export const WRAPPER_MODULE = "__rehearsal/entry.js";
const STAND_IN_MODULE = "__rehearsal/standin.js";

/**
 * The modules that go beside an uploaded bundle, which itself stays as it was uploaded: an entry that exports what
 * the bundle exports and, for each container class, a subclass that puts a stand-in in place of `ctx.container`.
 * That is done before the class's own constructor runs, so the bundle cannot tell. The host's address is part of the
 * entry's text and no binding, so `env` is what was deployed.
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
