import { createCommandProvider } from "./command/provider.ts";
import { runProvider } from "./serve.ts";

await runProvider(createCommandProvider);
