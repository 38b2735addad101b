import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { freePorts } from "../../rehearsal/ports.ts";
import { openWorld, type World } from "../../rehearsal/world.ts";
import type { Service } from "./data.ts";
import { unpack } from "./packed.ts";

/** The rehearsed account of an archive, with the present version's program on its stack. */
export interface Upgraded {
  world: World;
  /** The state as the archived version left it. */
  former: Deployment;
  service(): Promise<Service>;
  close(): Promise<void>;
}

const PORTED = ["rehearsal.json", "state.json", "discord.json", "telegram.json", "account/account.json"];

/** Unpacks the serverless target of a release onto free ports. The stack has the archived state; nothing is updated. */
export async function openServerless(release: string): Promise<Upgraded> {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-upgrade-"));
  const folder = path.join(dir, "serverless");
  await unpack(path.join(import.meta.dirname, release, "serverless.tar.zst"), folder);
  await movePorts(folder);
  const options = { target: "serverless", once: true, json: true, destroy: false, verbose: false } as const;
  const world = await openWorld("serverless", { ...options, sandbox: "process", dir }, () => {});
  const former = JSON.parse(await readFile(path.join(folder, "state.json"), "utf8")) as Deployment;
  await world.stack.importStack(former);
  return {
    world,
    former,
    async service() {
      const outputs = await world.stack.outputs();
      const headers = await world.signIn(String(outputs["audience"]?.value));
      return { url: String(outputs["url"]?.value), headers };
    },
    async close() {
      await world.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function movePorts(folder: string): Promise<void> {
  const settings = path.join(folder, "rehearsal.json");
  const { ports } = JSON.parse(await readFile(settings, "utf8")) as { ports: Record<string, number> };
  const former = Object.values(ports);
  const free = await freePorts(former.length);
  const known = new Set(await readdir(folder));
  for (const file of PORTED.filter((name) => known.has(name.split("/")[0] ?? ""))) {
    const text = await readFile(path.join(folder, file), "utf8");
    const moved = former.reduce((moving, port, index) => {
      const place = new RegExp(`((?:127\\.0\\.0\\.1|localhost|"): ?)${port}\\b`, "g");
      return moving.replaceAll(place, `$1${free[index]}`);
    }, text);
    await writeFile(path.join(folder, file), moved);
  }
}
