import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const COPIED = [
  ".ci",
  "infra",
  "policies",
  "runtime",
  "stacks",
  "Pulumi.yaml",
  "package.json",
  "pulumi-resource-steward",
];
const NAMES = "runtime/contract/names.ts";

/** Copy of all files in this checkout that a deployment needs. */
export interface Checkout {
  root: string;
  close(): Promise<void>;
}

export async function copyCheckout(changes: { version?: string } = {}): Promise<Checkout> {
  const root = await freeFolder();
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  if (changes.version !== undefined) {
    const names = await readFile(join(root, NAMES), "utf8");
    await writeFile(join(root, NAMES), names.replace(/VERSION = "[^"]+"/, `VERSION = "${changes.version}"`));
  }
  return { root, close: () => rm(root, { recursive: true, force: true }) };
}

/** Reuses paths, because Node's compile cache depends on them. */
async function freeFolder(number = 0): Promise<string> {
  const root = join(tmpdir(), `steward-checkout-${number}`);
  const made = await mkdir(root).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
      return false;
    },
  );
  return made ? root : freeFolder(number + 1);
}
