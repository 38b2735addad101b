import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Stand-in for all Pulumi providers. It accepts every resource and creates nothing. */
export interface AnyProvider {
  environment: { PULUMI_DEBUG_PROVIDERS: string };
  close(): void;
}

export async function startAnyProvider(): Promise<AnyProvider> {
  const file = join(import.meta.dirname, "../policies/engine/provider.ts");
  const provider = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(provider.stdout, "data")) as [Buffer];
  const names = ["cloudflare", "command", "docker", "steward"];
  const places = names.map((name) => `${name}:${port.toString().trim()}`);
  return {
    environment: { PULUMI_DEBUG_PROVIDERS: places.join(",") },
    close: () => void provider.kill(),
  };
}
