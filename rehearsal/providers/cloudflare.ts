import { createCloudflareProvider } from "./cloudflare/provider.ts";
import { runProvider } from "./serve.ts";

await runProvider(() => createCloudflareProvider(process.env));
