/** Runs the provider `steward`. Pulumi starts it through the launcher `pulumi-resource-steward`. */
import { enableCompileCache, flushCompileCache, registerHooks } from "node:module";
import path from "node:path";
import { print } from "../../runtime/shared/terminal.ts";

// Exit when the standard input closes, because a killed engine cannot stop this process. Pulumi's launcher
// (plugin.cjs) imports this file without passing a standard input.
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
// Write the compile cache early: a signal from the engine ends Node.js before it would write it.
setTimeout(flushCompileCache, 1_000).unref();
