/**
 * `npm run archive -- <name> [checkout]`: deploys both targets from a checkout, by default this one, gives them data and
 * writes test/releases/<name>. The checkout has to be installed. Needs Docker.
 */
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { docker } from "../../infra/shell/docker.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { fill, readData, type Service } from "./data.ts";
import { pack, portable } from "./packed.ts";

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

/** One archive in the making. */
interface Archive {
  /** Modules of the checkout that is archived. */
  modules: Modules;
  /** Folder of the checkout. */
  root: string;
  /** Folder of the archive. */
  target: string;
  /** A folder for what is packed. */
  work: string;
  log: (line: string) => void;
}

const SCRIPT = "npm run archive --";
/** Parts of a program that only files of these kinds need: an archive stays small without them. */
const LARGE = /photon\.wasm$|pdfjs-\w+\.js$/;
/** Files and folders that a rehearsal leaves of the serverless target. */
const KEPT = ["account", "storage", "identity", "rehearsal.json", "discord.json", "telegram.json"];

async function main(argv: string[], { log }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Deploys both targets, gives them data, and writes what they leave into test/releases. Needs Docker.",
  )
    .argument("<name>", "name of the archive: the version, for a release")
    .argument("[checkout]", "folder of the checkout to deploy from, with its packages installed", ".")
    .parse(argv, { from: "user" });
  const [name, checkout] = command.processedArgs as [string, string];
  if (!/^\w[\w.-]*$/.test(name)) throw usageError(`${name} cannot be the name of a folder`);
  const root = path.resolve(checkout);
  const target = path.join(import.meta.dirname, name);
  // A checkout's programs look for its files from here.
  process.chdir(root);
  const work = await mkdtemp(path.join(tmpdir(), "steward-archive-"));
  try {
    await mkdir(target, { recursive: true });
    await write({ modules: await modulesOf(root), root, target, work, log });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return 0;
}

async function modulesOf(root: string): Promise<Modules> {
  const loaded = Object.entries(FILES).map(async ([key, file]) => {
    const module = (await import(pathToFileURL(path.join(root, file)).href)) as unknown;
    return [key, module] as const;
  });
  return Object.fromEntries(await Promise.all(loaded)) as Modules;
}

async function write(archive: Archive): Promise<void> {
  const { modules, target, work } = archive;
  const { container } = await modules.bundle.buildBundle();
  const program = path.join(work, "program");
  await cp(container.dir, program, { recursive: true, filter: (file) => !LARGE.test(file) });
  await pack(program, path.join(target, "program.tar.zst"));
  const serverless = await archiveServerless(archive);
  const host = await archiveHost(archive);
  const { STATE_SCHEMA: stateSchema, VERSION: version } = modules.names;
  const manifest = { version, stateSchema, program: container.hash, serverless, host };
  await writeFile(path.join(target, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The rehearsal's folder: the account with its buckets and its object's database, and the state beside it. */
async function archiveServerless({ modules, root, target, work, log }: Archive) {
  const dir = path.join(work, "rehearsal");
  const options = { target: "serverless", once: true, json: true, destroy: false, verbose: false } as const;
  const world = await modules.world.openWorld("serverless", { ...options, dir, sandbox: "process" }, log);
  let state: object;
  let data: Awaited<ReturnType<typeof settled>>;
  try {
    const deployment = await modules.deploy.deploy(world.stack, new AbortController().signal, log);
    await modules.message.exchangeMessage(world, deployment);
    const service = { url: deployment.url, headers: await world.signIn(deployment.audience) };
    await fill(service, world.platforms);
    data = await settled(service);
    state = await world.stack.exportStack();
  } finally {
    await world.close();
  }
  const folder = path.join(dir, "serverless");
  for (const left of await readdir(folder))
    if (!KEPT.includes(left)) await rm(path.join(folder, left), { recursive: true });
  await writeFile(path.join(folder, "state.json"), portable(state, root));
  await pack(folder, path.join(target, "serverless.tar.zst"));
  return { resources: resourcesOf(state), data };
}

/** The volume's files, with the state beside them. */
async function archiveHost({ modules, root, target, work, log }: Archive) {
  const { settings, platforms } = await modules.standIns.startStandIns(await modules.sandbox.bridgeAddress());
  const given = modules.config.hostConfig({ settings, endpoints: platforms.endpoints });
  delete given["steward:hostPort"];
  delete given["steward:adminToken"];
  const subject = await modules.hostStack.createHostStack(given);
  try {
    const { names, url } = subject;
    await subject.stack.up({ onOutput: log });
    await fetch(`${url}/slack/events`, { method: "POST", ...platforms.slack.sign(mention("Hello")) });
    const service = { url, headers: { authorization: `Bearer ${modules.hostStack.ADMIN_TOKEN}` } };
    await fill(service, platforms);
    const data = await settled(service);
    const state = await subject.stack.exportStack();
    await docker(["stop", names.container]);
    const dir = path.join(work, "host");
    await mkdir(path.join(dir, "data"), { recursive: true });
    await docker(["cp", `${names.container}:/root/.steward/.`, path.join(dir, "data")]);
    await writeFile(path.join(dir, "state.json"), portable(state, root));
    await writeFile(path.join(dir, "rehearsal.json"), JSON.stringify(settings));
    await pack(dir, path.join(target, "host.tar.zst"));
    return { names, url, endpoints: platforms.endpoints, resources: resourcesOf(state), data };
  } finally {
    await subject.close();
    await platforms.close();
  }
}

/** Reads the data once no event is in progress. */
async function settled(service: Service) {
  for (;;) {
    const data = await readData(service);
    if (Object.values(data.ledger).every((state) => ["answered", "ignored"].includes(state))) return data;
  }
}

function resourcesOf(state: object): number {
  return (state as { deployment: { resources: unknown[] } }).deployment.resources.length;
}

await runCommand(SCRIPT, main);
