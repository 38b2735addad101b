/** Runs the provider `steward`. Pulumi starts it through the launcher `pulumi-resource-steward`. */
import { enableCompileCache, flushCompileCache, registerHooks } from "node:module";
import path from "node:path";
import { print } from "../../runtime/shared/terminal.ts";

// A killed engine cannot stop this process, but it closes the standard input. Pulumi's own launcher (plugin.cjs) passes
// none.
if (import.meta.main) process.stdin.once("end", () => process.exit()).resume();
enableCompileCache();
const sdk = new URL(`sdk${path.extname(import.meta.filename)}`, import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@pulumi/pulumi" ? { url: sdk, shortCircuit: true } : next(specifier, context),
});
const { methods, serve } = await import("./serve.ts");
print(`${await serve(process.argv[2] ?? "")}\n`);
await methods();
// The engine stops this process with a signal, and Node.js would then not write its compile cache.
setTimeout(flushCompileCache, 1_000).unref();
