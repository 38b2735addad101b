/** Runs the provider `steward`: the engine starts it through the launcher `pulumi-resource-steward`. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { print } from "../../runtime/shared/terminal.ts";

// An engine that is killed cannot end this process, but the standard input ends with it.
process.stdin.once("end", () => process.exit()).resume();
enableCompileCache();
const { serve } = await import("./serve.ts");
print(`${await serve(process.argv[2] ?? "")}\n`);
// The engine ends this process with a signal, and Node would then not write its compile cache.
setTimeout(flushCompileCache, 1_000).unref();
