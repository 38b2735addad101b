import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect, inject } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import type { BuildRecord } from "../../infra/bundle/released.ts";
import { withFileLock } from "../../infra/shell/cache.ts";
import { openShell, succeed, type Shell, type Typed } from "../journeys/typed.ts";
import { type Language, languageHost } from "../support/languages.ts";

/** An empty folder in which a person installs the package and makes a stack of it. */
export interface Project {
  shell: Shell;
  /** Types a line that has to succeed. */
  works(line: string): Promise<Typed>;
  /**
   * Installs the package, and makes the stack `dev` from a template. The package is the file that STEWARD_PACKAGE names,
   * as the release sets it; without it, it is packed once for the whole run.
   */
  begin(template: "serverless" | "host"): Promise<void>;
  /** Makes the stack `dev` from a template in another language than JavaScript, by the commands of its README. */
  beginIn(
    language: Exclude<Language, "go">,
    target: "serverless" | "host",
    plain: Record<string, string>,
    secrets: Record<string, string>,
  ): Promise<void>;
  install(): Promise<void>;
  /** Returns the package's file. */
  pack(): Promise<string>;
  /** Gives the stack `dev` its settings; those of `secrets` as secrets. */
  configure(
    plain: Record<string, string>,
    secrets: Record<string, string>,
    where?: Shell,
    stack?: string,
  ): Promise<void>;
  remove(): Promise<void>;
}

/** Options of {@link emptyProject}. */
interface ProjectOptions {
  /** The engine needs the Docker provider. Default: false. */
  docker?: boolean;
  /** The published image that the packed package names. Default: none. */
  image?: BuildRecord["image"];
}

export async function emptyProject(name: string, options: ProjectOptions = {}): Promise<Project> {
  const { docker = false, image } = options;
  const folder = await mkdtemp(join(tmpdir(), `steward-${name}-`));
  const [bot, state] = [join(folder, "bot"), join(folder, "state")];
  await mkdir(bot);
  const shell = await openShell(bot, name, { state, docker });
  const works = (line: string, where: Shell = shell): Promise<Typed> => succeed(where, line);

  async function packed(): Promise<string> {
    const checkout = { ...shell, folder: resolve(".") };
    const published = image === undefined ? "" : `--image '${JSON.stringify(image)}'`;
    const out = join(inject("packages"), createHash("sha256").update(published).digest("hex").slice(0, 8));
    const file = join(out, `steward-gateway-${packageJson.version}.tgz`);
    await withFileLock(`${out}.lock`, async () => {
      if (existsSync(file)) return;
      await works(`npm run --silent package -- --out ${out} ${published}`, checkout);
    });
    return file;
  }

  const pack = async (): Promise<string> => process.env["STEWARD_PACKAGE"] ?? packed();

  async function install(): Promise<void> {
    const file = await pack();
    await works(`npm install --prefer-offline --no-audit --no-fund ${file}`);
  }

  async function newFrom(template: string, words: readonly string[] = []): Promise<void> {
    const place = `./node_modules/steward-gateway/templates/${template}`;
    await works(["pulumi new", place, "--force --yes --name bot --stack dev", ...words].join(" "));
  }

  async function configure(
    plain: Record<string, string>,
    secrets: Record<string, string>,
    where = shell,
    stack = "dev",
  ): Promise<void> {
    const words = Object.entries({ plaintext: plain, secret: secrets }).flatMap(([option, values]) =>
      Object.entries(values).map(([key, value]) => `--${option} '${key}=${value}'`),
    );
    await works(`pulumi config set-all -s ${stack} ${words.join(" ")}`, where);
  }

  return {
    shell,
    works: (line) => works(line),
    install,
    pack,
    configure,
    async begin(template) {
      await install();
      await newFrom(template);
      const files = [".github", "Pulumi.yaml", "README.md", "index.js", "package.json"];
      expect(await readdir(bot)).toEqual(expect.arrayContaining(files));
    },
    async beginIn(language, target, plain, secrets) {
      const { environment } = shell;
      // Python's host takes no notice of `virtualenv`: it makes the environment in the project's folder.
      const PATH = [join(bot, "bin"), await languageHost(language), environment["PATH"]];
      // `pulumi plugin install` is for the whole machine, so this project gets a Pulumi home of its own.
      const home = join(folder, "home");
      await cp(environment["PULUMI_HOME"] ?? "", home, { recursive: true, verbatimSymlinks: true });
      Object.assign(environment, { PATH: PATH.join(delimiter), PULUMI_HOME: home });
      await install();
      const plugin = `resource steward ${packageJson.version} --file node_modules/steward-gateway`;
      if (language === "yaml") await works(`pulumi plugin install ${plugin}`);
      const words = Object.entries({ ...plain, ...secrets }).map(([key, value]) => `-c ${key}=${value}`);
      await newFrom(`${target}-${language}`, words);
      // A person is asked for these, and they are kept as secrets.
      await configure({}, secrets);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
