import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { attachProviders } from "../../../infra/rehearsal/providers/attach.ts";
import { listens } from "../../support/ports.ts";

const ATTACH = join(import.meta.dirname, "../../../infra/rehearsal/providers/attach.ts");

test("attached providers are there for the engine, and gone when they are closed", async () => {
  const attached = await attachProviders({ needed: ["cloudflare", "command"], log: () => undefined });
  const ports = portsOf(attached.env.PULUMI_DEBUG_PROVIDERS);

  expect(Object.keys(ports)).toEqual(["cloudflare", "command"]);
  expect(await Promise.all(Object.values(ports).map(listens))).toEqual([true, true]);

  await attached.close();
  expect(await Promise.all(Object.values(ports).map(listens))).toEqual([false, false]);
});

test("attached providers end with the process that started them, however that ends", async () => {
  const program = `
    const { attachProviders } = await import(${JSON.stringify(ATTACH)});
    const { env } = await attachProviders({ needed: ["command"], log: () => undefined });
    process.stdout.write(env.PULUMI_DEBUG_PROVIDERS, () => process.kill(process.pid, "SIGKILL"));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const { command = 0 } = portsOf(output);

  expect(command).toBeGreaterThan(0);
  await expect.poll(() => listens(command), { timeout: 20_000 }).toBe(false);
});

function portsOf(list: string): Record<string, number> {
  const entries = list.split(",").map((entry) => entry.split(":"));
  return Object.fromEntries(entries.map(([name, port]) => [name, Number(port)]));
}
