import { readFile } from "node:fs/promises";

/** A module of a Worker's version, with its content. */
export interface WorkerModule {
  name: string;
  contentType: string;
  contentBase64: string;
}

/** A built module on this machine. */
export interface ModuleFile {
  name: string;
  path: string;
  contentType: string;
}

/**
 * Reads built modules. By content, not by path: the same code is the same version wherever it was
 * built, so a deployment from another machine changes nothing.
 */
export function readModules(files: readonly ModuleFile[]): Promise<WorkerModule[]> {
  return Promise.all(
    files.map(async ({ name, path, contentType }) => ({
      name,
      contentType,
      contentBase64: (await readFile(path)).toString("base64"),
    })),
  );
}
