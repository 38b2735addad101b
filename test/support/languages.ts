import { copyFile } from "node:fs/promises";
import path from "node:path";
import { cacheRoot, contentKey } from "../../infra/shell/cache.ts";
import { buildOnce } from "../../rehearsal/engine/build.ts";
import { downloadModule, goBuild } from "../../rehearsal/engine/go.ts";

const SDK = "github.com/pulumi/pulumi/sdk/v3";

export type Language = "yaml" | "python" | "go";

/** `command` is a Go package. `module` is a folder in `languages` that pins the host's version. */
const HOSTS: Readonly<Record<Language, { module: string; command: string }>> = {
  yaml: { module: "yaml", command: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml" },
  python: { module: "sdk", command: `${SDK}/python/cmd/pulumi-language-python` },
  go: { module: "sdk", command: `${SDK}/go/pulumi-language-go` },
};

/** Builds a language's host. Returns its folder, to add to PATH. */
export async function languageHost(language: Language): Promise<string> {
  const host = HOSTS[language];
  const module = path.join(import.meta.dirname, "languages", host.module);
  const key = await contentKey([process.platform, process.arch], module, /^go\.(mod|sum)$/);
  const folder = path.join(cacheRoot(process.env), "languages", `${language}-${key}`);
  const name = `pulumi-language-${language}`;
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const build = async (target: string): Promise<void> => {
    const made = {
      what: `Pulumi's host of ${language} programs`,
      codePrefix: "language",
      module,
      command: host.command,
      output: path.join(target, name),
      ldflags: "-s -w",
      log,
      env: process.env,
    };
    await goBuild(made);
    if (language !== "python") return;
    // Python's host expects this script in its folder.
    const script = `${name}-exec`;
    const source = path.join(await downloadModule(made, SDK), "python/cmd", script);
    await copyFile(source, path.join(target, script));
  };
  await buildOnce(folder, path.join(folder, name), build, log);
  return folder;
}
