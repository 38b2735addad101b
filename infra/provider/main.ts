/** Runs the provider `steward`. Pulumi starts it through the launcher `pulumi-resource-steward`. */
import { enableCompileCache, flushCompileCache, registerHooks } from "node:module";
import path from "node:path";
import { print } from "../../runtime/shared/terminal.ts";

// Exit when standard input closes, because a killed engine cannot stop this process. Not under Pulumi's launcher
// (plugin.cjs), which passes no standard input.
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
// Write the compile cache early. Node.js writes it only at a normal exit, but the engine sends a signal.
setTimeout(flushCompileCache, 1_000).unref();
