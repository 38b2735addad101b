/** Implements `npm run sbom`, which writes the bill of materials of the deployed programs. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { commandParser, runCommand, type CommandOutput } from "../shell/command.ts";
import { docker } from "../shell/docker.ts";
import { BuildFailure } from "../shell/failure.ts";
import { runProcess, tail } from "../shell/process.ts";
import { bundleAssets } from "./assets.ts";
import { buildBundle } from "./bundle.ts";
import { stewardImage } from "./image.ts";
import { ROOT } from "../shell/package.ts";
import { bundleContainer, bundleWorker } from "./programs.ts";
import { printError } from "../../runtime/shared/terminal.ts";

const SCRIPT = "npm run sbom --";
const PACKAGES = "node_modules/";

/** https://cyclonedx.org/docs/1.5/json/#components */
interface Component {
  "bom-ref": string;
  type: string;
  name: string;
  version: string;
  purl: string;
  [field: string]: unknown;
}

/** A software bill of materials in CycloneDX JSON. */
interface Bill {
  metadata: { component: Component; [field: string]: unknown };
  components: Component[];
  [field: string]: unknown;
}

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const parser = commandParser(
    SCRIPT,
    "Writes CycloneDX bills of materials: of the Worker's bundle and the container's, and of the image.",
  )
    .option("--out <folder>", "output folder", "dist/sbom")
    .option("--image", "include the image, which is built if the Docker engine does not have it")
    .parse(argv, { from: "user" });
  const { out, image } = parser.opts<{ out: string; image?: true }>();
  const [installed, assets] = await Promise.all([installedPackages(), bundleAssets({ hashed: true })]);
  const [worker, container] = await Promise.all([bundleWorker(assets), bundleContainer(assets)]);
  const inContainer = await packagesOf(container.read, installed.components);
  const bills: [string, Bill][] = [
    ["worker", billOf(installed, "worker", await packagesOf(worker.read, installed.components))],
    ["container", billOf(installed, "container", inContainer)],
  ];
  if (image === true) {
    const log = (line: string): void => printError(`${line}\n`);
    const { image: name } = await stewardImage(await buildBundle(), log);
    const system = await systemPackages(name);
    bills.push(["image", billOf(installed, "image", [...inContainer, ...system])]);
  }
  await mkdir(out, { recursive: true });
  for (const [name, bill] of bills) {
    const file = path.join(out, `${name}.cdx.json`);
    await writeFile(file, `${JSON.stringify(bill, null, 2)}\n`);
    say(`${file}: ${bill.components.length} components\n`);
  }
  return 0;
}

async function installedPackages(): Promise<Bill> {
  // Do not pass `--omit dev`, which would also omit packages that both development and production need.
  const words = ["sbom", "--sbom-format", "cyclonedx"];
  const made = await runProcess("npm", words, { cwd: ROOT, env: process.env });
  if (made.code !== 0) {
    throw new BuildFailure(
      "sbom_failed",
      `npm sbom failed:\n${tail(made, 3)}`,
      "Run `npm ci`, then try again.",
    );
  }
  return JSON.parse(made.stdout) as Bill;
}

/**
 * Returns the packages that contain these files. Matches by name and version, because npm may install several versions.
 */
async function packagesOf(files: readonly string[], installed: readonly Component[]): Promise<Component[]> {
  const folders = new Set(files.flatMap(packageFolder));
  const used = await Promise.all(
    [...folders].map(async (folder) => {
      const manifest = await readFile(path.join(ROOT, folder, "package.json"), "utf8");
      const { name, version } = JSON.parse(manifest) as Component;
      return `${name}@${version}`;
    }),
  );
  return installed.filter(({ name, version }) => used.includes(`${name}@${version}`));
}

/**
 * Returns a list with a file's package folder, such as `node_modules/@scope/name`; empty for this package's files.
 */
function packageFolder(file: string): string[] {
  const start = file.lastIndexOf(PACKAGES);
  if (start === -1) return [];
  const [first = "", second = ""] = file.slice(start + PACKAGES.length).split("/");
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  return [file.slice(0, start + PACKAGES.length) + name];
}

/** Returns the image's Debian packages and Node.js. */
async function systemPackages(image: string): Promise<Component[]> {
  const ask = async (program: string, ...words: string[]): Promise<string> =>
    (await docker(["run", "--rm", `--entrypoint=${program}`, image, ...words])).stdout.trim();
  const list = await ask("dpkg-query", "--show", "--showformat=${Package} ${Version} ${Architecture}\\n");
  const debian = list.split("\n").map((line): Component => {
    const [name = "", version = "", arch = ""] = line.split(" ");
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`;
    return { "bom-ref": purl, type: "library", name, version, purl };
  });
  const version = (await ask("node", "--version")).replace(/^v/, "");
  const purl = `pkg:generic/node@${version}`;
  return [{ "bom-ref": purl, type: "application", name: "node", version, purl }, ...debian];
}

/** Returns a bill of materials without a timestamp or a serial number, for reproducible builds. */
function billOf({ metadata }: Bill, what: string, components: readonly Component[]): Bill {
  const { name, version } = packageJson;
  const component = { ...metadata.component, type: "application", name: `${name}-${what}`, version };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component },
    components: components.toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1)),
  };
}

await runCommand(SCRIPT, main);
