/**
 * `npm run archive -- <name> [checkout]`: deploys both targets from a checkout, by default this one, gives them data and
 * writes test/releases/<name>. The checkout has to be installed. Needs Docker.
 */
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { docker } from "../../infra/shell/docker.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { fill, readData, type Service } from "./data.ts";
import { pack } from "./packed.ts";

type Modules = {
  bundle: typeof import("../../infra/bundle/bundle.ts");
  world: typeof import("../../rehearsal/world.ts");
  deploy: typeof import("../../rehearsal/deploy.ts");
  message: typeof import("../../rehearsal/message.ts");
  hostStack: typeof import("../support/host-stack.ts");
  standIns: typeof import("../support/targets/target.ts");
  config: typeof import("../../rehearsal/stack-config.ts");
  sandbox: typeof import("../../rehearsal/sandbox.ts");
  names: typeof import("../../runtime/contract/names.ts");
};

const FILES: Record<keyof Modules, string> = {
  bundle: "infra/bundle/bundle.ts",
  world: "rehearsal/world.ts",
  deploy: "rehearsal/deploy.ts",
  message: "rehearsal/message.ts",
  hostStack: "test/support/host-stack.ts",
  standIns: "test/support/targets/target.ts",
  config: "rehearsal/stack-config.ts",
  sandbox: "rehearsal/sandbox.ts",
  names: "runtime/contract/names.ts",
};

/** Parts of a program that only files of these kinds need: an archive stays small without them. */
const LARGE = /photon\.wasm$|pdfjs-\w+\.js$/;
/** Where a checkout lay, in what is archived. */
const NO_PLACE = "/checkout";

const [name = "", checkout = "."] = process.argv.slice(2);
if (name === "") throw new Error("npm run archive -- <name> [checkout]");
const root = path.resolve(checkout);
const target = path.join(import.meta.dirname, name);
process.chdir(root);
const loaded = await Promise.all(
  Object.entries(FILES).map(async ([key, file]) => [
    key,
    await import(pathToFileURL(path.join(root, file)).href),
  ]),
);
const modules = Object.fromEntries(loaded) as Modules;
const work = await mkdtemp(path.join(tmpdir(), "steward-archive-"));
await mkdir(target, { recursive: true });
const { container } = await modules.bundle.buildBundle();
await cp(container.dir, path.join(work, "program"), { recursive: true, filter: (file) => !LARGE.test(file) });
await pack(path.join(work, "program"), path.join(target, "program.tar.zst"));
const serverless = await archiveServerless(path.join(work, "rehearsal"));
const host = await archiveHost(path.join(work, "host"));
const { STATE_SCHEMA: stateSchema, VERSION: version } = modules.names;
const manifest = { version, stateSchema, program: container.hash, serverless, host };
await writeFile(path.join(target, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
await rm(work, { recursive: true });
process.exit(0);

function say(text: string): void {
  process.stderr.write(text);
}

/** The rehearsal's folder: the account with its buckets and its object's database, and the state beside it. */
async function archiveServerless(dir: string) {
  const options = {
    target: "serverless",
    once: true,
    json: true,
    destroy: false,
    verbose: false,
    dir,
  } as const;
  const world = await modules.world.openWorld("serverless", { ...options, sandbox: "process" }, say);
  const deployment = await modules.deploy.deploy(world.stack, new AbortController().signal, say);
  await modules.message.exchangeMessage(world, deployment);
  const service = { url: deployment.url, headers: await world.signIn(deployment.audience) };
  await fill(service, world.platforms);
  const data = await settled(service);
  const state = await world.stack.exportStack();
  await world.close();
  const folder = path.join(dir, "serverless");
  for (const left of await readdir(folder)) {
    if (!["account", "storage", "identity", "rehearsal.json", "discord.json", "telegram.json"].includes(left))
      await rm(path.join(folder, left), { recursive: true });
  }
  await writeFile(path.join(folder, "state.json"), portable(state));
  await pack(folder, path.join(target, "serverless.tar.zst"));
  return { resources: resourcesOf(state), data };
}

/** The volume's files, with the state beside them. */
async function archiveHost(dir: string) {
  const { settings, platforms } = await modules.standIns.startStandIns(await modules.sandbox.bridgeAddress());
  const given = modules.config.hostConfig({ settings, endpoints: platforms.endpoints });
  delete given["steward:hostPort"];
  delete given["steward:adminToken"];
  const subject = await modules.hostStack.createHostStack(given);
  try {
    await subject.stack.up({ onOutput: say });
    await fetch(`${subject.url}/slack/events`, { method: "POST", ...platforms.slack.sign(mention("Hello")) });
    const service = {
      url: subject.url,
      headers: { authorization: `Bearer ${modules.hostStack.ADMIN_TOKEN}` },
    };
    await fill(service, platforms);
    const data = await settled(service);
    const state = await subject.stack.exportStack();
    await docker(["stop", subject.names.container]);
    await mkdir(path.join(dir, "data"), { recursive: true });
    await docker(["cp", `${subject.names.container}:/root/.steward/.`, path.join(dir, "data")]);
    await writeFile(path.join(dir, "state.json"), portable(state));
    await writeFile(path.join(dir, "rehearsal.json"), JSON.stringify(settings));
    await pack(dir, path.join(target, "host.tar.zst"));
    const { names, url } = subject;
    return { names, url, endpoints: platforms.endpoints, resources: resourcesOf(state), data };
  } finally {
    await subject.close();
  }
}

/** Reads the data once no event is in progress. */
async function settled(service: Service) {
  for (;;) {
    const data = await readData(service);
    if (Object.values(data.ledger).every((state) => ["answered", "ignored"].includes(state))) return data;
  }
}

function portable(state: object): string {
  const hidden = new Set(["sourcePosition", "stackTrace"]);
  return JSON.stringify(state, (key, value: unknown) => (hidden.has(key) ? undefined : value))
    .replaceAll(process.execPath, "node")
    .replaceAll(root, NO_PLACE);
}

function resourcesOf(state: object): number {
  return (state as { deployment: { resources: unknown[] } }).deployment.resources.length;
}
