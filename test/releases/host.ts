import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as dockerProvider from "@pulumi/docker";
import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { SCHEMA_LABEL } from "../../infra/bundle/arguments.ts";
import { stewardImage } from "../../infra/bundle/image.ts";
import { docker, imageId } from "../../infra/shell/docker.ts";
import { startPlatforms, type Platforms } from "../../rehearsal/platforms.ts";
import { freePorts } from "../../rehearsal/ports.ts";
import { endProcesses } from "../../rehearsal/running.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { readRehearsalSettings } from "../../rehearsal/settings.ts";
import { hostConfig } from "../../rehearsal/stack-config.ts";
import { CONTAINER_USER } from "../../runtime/contract/names.ts";
import { ADMIN_TOKEN, createHostStack, type HostStack } from "../support/host-stack.ts";
import { createTestStack } from "../support/stack.ts";
import type { Service } from "./data.ts";
import { placed, unpack } from "./packed.ts";
import { manifestOf } from "./releases.ts";

/** The container and volume of an archive on this machine's engine, with the present version's program on its stack. */
export interface HostUpgrade extends HostStack {
  platforms: Platforms;
  service: Service;
  /** Image that the archived container runs from. */
  image: string;
  /** Takes the way of docs/upgrades.md to the image that the stack is set to: without the database, then with a backup. */
  goBackWith(backup: string): Promise<void>;
  /** Updates the stack, and kills the engine once a container of this name is in this state. */
  upKilledAt(container: string, state: "created" | "running"): Promise<void>;
}

/** Marks of a secret in a state (pulumi sdk/go/common/resource/properties.go). */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const CONTAINER = "docker:index/container:Container";
const POLL_MS = 20;

interface Resource {
  type: string;
  id: string;
  inputs: Record<string, unknown>;
}

/** Puts the host target of a release in place under names of its own, and starts it. Nothing is updated. */
export async function openHost(release: string): Promise<HostUpgrade> {
  await using ends = new AsyncDisposableStack();
  const opened = await open(release, ends);
  const kept = ends.move();
  return { ...opened, close: () => kept.disposeAsync() };
}

/** @param ends gets what ends or removes each started part */
async function open(release: string, ends: AsyncDisposableStack): Promise<HostUpgrade> {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-upgrade-"));
  ends.defer(() => rm(dir, { recursive: true, force: true }));
  const archive = path.join(import.meta.dirname, release);
  await unpack(path.join(archive, "host.tar.zst"), dir);
  const manifest = manifestOf(release);
  const kept = await readRehearsalSettings(dir);
  const names = Object.keys(kept.ports) as (keyof typeof kept.ports)[];
  const free = await freePorts(names.length);
  const ports = Object.fromEntries(names.map((name, index) => [name, free[index]])) as typeof kept.ports;
  const settings = { ...kept, ports };
  const platforms = await startPlatforms({ settings, hostname: await bridgeAddress(), realModel: false });
  ends.defer(() => platforms.close());
  const given = hostConfig({ settings, endpoints: platforms.endpoints });
  delete given["steward:hostPort"];
  delete given["steward:adminToken"];
  const image = await archivedImage(release, dir);
  ends.defer(async () => void (await docker(["rmi", "--force", image])));
  const subject = await createHostStack(given);
  ends.defer(() => subject.close());

  const port = (url: string): string => new URL(url).port;
  const before = manifest.host;
  const moves = new Map([
    [before.names.container, subject.names.container],
    [before.url, subject.url],
    [`"external":${port(before.url)}`, `"external":${port(subject.url)}`],
  ]);
  for (const [name, address] of Object.entries(before.endpoints))
    moves.set(address, platforms.endpoints[name] ?? "");
  let text = moved(placed(await readFile(path.join(dir, "state.json"), "utf8")), moves);
  const archived = containerIn(text);
  text = text.replaceAll(String(archived.inputs["image"]), String(await imageId(image)));
  await fillVolume(subject.names.volume, path.join(dir, "data"), image);
  text = text.replaceAll(archived.id, await startContainer(containerIn(text)));
  const state = JSON.parse(text) as Deployment;
  // The archived values are in plain. This stack encrypts them by its own key.
  const { secretsProvider: url, encryptedKey } = await subject.stack.workspace.stackSettings("test");
  const own = { type: "cloud", state: { url, encryptedkey: encryptedKey } };
  Object.assign(state.deployment as object, { secrets_providers: own });
  await subject.stack.importStack(state);
  return {
    ...subject,
    platforms,
    service: { url: subject.url, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
    image,
    async goBackWith(backup) {
      const { container, volume } = subject.names;
      await docker(["rm", "--force", container]);
      const mount = `--volume=${volume}:/data`;
      const remove = ["--entrypoint=sh", image, "-c", "rm /data/state.db*"];
      await docker(["run", "--rm", "--user=0", mount, ...remove]);
      await subject.stack.up({ refresh: true });
      const restore = ["backup", "restore", backup, "--config", "generation", "--yes"];
      await docker(["exec", container, "steward", ...restore]);
      await docker(["restart", container]);
      await healthy(container);
    },
    async upKilledAt(container, state) {
      let ended = false;
      const update = subject.stack.up().then(
        () => (ended = true),
        () => (ended = true),
      );
      for (;;) {
        const { stdout } = await docker([
          "ps",
          "-a",
          "--filter",
          `name=^${container}$`,
          "--format",
          "{{.State}}",
        ]);
        if (ended) throw new Error(`${container} was never ${state}`);
        if (stdout.trim() === state) break;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      endProcesses((pid) => readlinkSync(`/proc/${pid}/cwd`) === subject.folder);
      await update;
      await subject.stack.cancel();
    },
  };
}

/** Replaces all names and addresses in one pass, because a new one may equal a former one. */
function moved(text: string, moves: ReadonlyMap<string, string>): string {
  const former = [...moves.keys()].map((one) => one.replaceAll(".", "\\."));
  return text.replaceAll(new RegExp(`(?:${former.join("|")})(?!\\d)`, "g"), (one) => moves.get(one) ?? one);
}

/** Builds an image with the archived program in place of the present one. */
async function archivedImage(release: string, dir: string): Promise<string> {
  const { program, stateSchema } = manifestOf(release);
  const { image: base } = await stewardImage(await buildBundle(), () => {});
  const context = path.join(dir, "image");
  await unpack(path.join(import.meta.dirname, release, "program.tar.zst"), path.join(context, "program"));
  const lines = [
    `FROM ${base}`,
    "USER root",
    "RUN rm -rf /app",
    "COPY program /app",
    "USER steward",
    `LABEL ${SCHEMA_LABEL}=${stateSchema} org.opencontainers.image.revision=${program}`,
  ];
  await writeFile(path.join(context, "Dockerfile"), lines.join("\n"));
  const tag = `steward-archived:${path.basename(dir).toLowerCase()}`;
  await docker(["build", "--quiet", `--tag=${tag}`, context]);
  return tag;
}

function containerIn(state: string): Resource {
  const { deployment } = JSON.parse(state) as { deployment: { resources: Resource[] } };
  const found = deployment.resources.find(({ type }) => type === CONTAINER);
  if (found === undefined) throw new Error("the state has no container");
  return found;
}

async function fillVolume(volume: string, data: string, image: string): Promise<void> {
  await docker(["volume", "create", "--label=steward.stack=steward/test", volume]);
  const mounts = [`--volume=${volume}:/to`, `--volume=${data}:/from:ro`];
  const copy = `cp -a /from/. /to && chown -R ${CONTAINER_USER}:${CONTAINER_USER} /to`;
  await docker(["run", "--rm", "--user=0", ...mounts, "--entrypoint=sh", image, "-c", copy]);
}

/** Creates the archived container as its release did, by the same provider, and starts it. Returns its id. */
async function startContainer({ inputs }: Resource): Promise<string> {
  const args = plain(inputs) as unknown as dockerProvider.ContainerArgs;
  const scratch = await createTestStack({
    docker: true,
    config: {},
    program: () => Promise.resolve({ id: new dockerProvider.Container("service", args).id }),
  });
  const { outputs } = await scratch.stack.up().finally(() => scratch.close());
  const id = String(outputs["id"]?.value);
  await docker(["start", id]);
  await healthy(id);
  return id;
}

async function healthy(container: string): Promise<void> {
  const ask = () => docker(["exec", container, "steward", "health"]).then(Boolean, () => false);
  while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Returns a state's inputs as a program gives them: without marks of defaults and secrets. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if (SIGNATURE in value && "plaintext" in value) return JSON.parse(String(value.plaintext));
  const entries = Object.entries(value).filter(([key]) => key !== "__defaults");
  return Object.fromEntries(entries.map(([key, one]) => [key, plain(one)]));
}
