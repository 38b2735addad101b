import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import type { Released } from "../../infra/bundle/released.ts";
import { openShell, succeed, type Shell, type Typed } from "../journeys/typed.ts";

/** An empty folder in which a person installs the package and makes a stack of it. */
export interface Project {
  shell: Shell;
  /** Types a line that has to succeed. */
  works(line: string): Promise<Typed>;
  /**
   * Installs the package, and makes the stack `dev` from a template. The package is the file that STEWARD_PACKAGE names,
   * as the release sets it; without it, it is packed.
   */
  begin(template: "serverless" | "host"): Promise<void>;
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
  image?: Released["image"];
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
    const { said } = await works(
      `npm run --silent package -- --out ${folder}/package ${published}`,
      checkout,
    );
    return said.trim().split("\n").at(-1) ?? "";
  }

  const pack = async (): Promise<string> => process.env["STEWARD_PACKAGE"] ?? packed();

  async function install(): Promise<void> {
    const file = await pack();
    await works(`npm install --prefer-offline --no-audit --no-fund ${file}`);
  }

  return {
    shell,
    works: (line) => works(line),
    install,
    pack,
    async begin(template) {
      await install();
      const place = `./node_modules/steward-gateway/templates/${template}`;
      await works(`pulumi new ${place} --force --yes --name bot --stack dev`);
      const files = [".github", "Pulumi.yaml", "README.md", "index.js", "package.json"];
      expect(await readdir(bot)).toEqual(expect.arrayContaining(files));
    },
    async configure(plain, secrets, where = shell, stack = "dev") {
      const words = Object.entries({ plaintext: plain, secret: secrets }).flatMap(([option, values]) =>
        Object.entries(values).map(([key, value]) => `--${option} '${key}=${value}'`),
      );
      await works(`pulumi config set-all -s ${stack} ${words.join(" ")}`, where);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
