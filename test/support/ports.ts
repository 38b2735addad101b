import { readFile } from "node:fs/promises";
import path from "node:path";
import { freePorts, reserve } from "../../rehearsal/ports.ts";

export { listens } from "../../rehearsal/ports.ts";

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Reserves a stopped rehearsal's ports for its next start. */
export async function reservePortsOf(folder: string): Promise<void> {
  const settings = await readFile(path.join(folder, "serverless/rehearsal.json"), "utf8");
  const { ports } = JSON.parse(settings) as { ports: Record<string, number> };
  await Promise.all(Object.values(ports).map(reserve));
}
