import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const COPIED = ["infra", "policies", "runtime", "stacks", "package.json"];
const NAMES = "runtime/contract/names.ts";

/** A checkout that builds another bundle than this one: its version is another. */
export async function otherCheckout(): Promise<{ root: string; close(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), "steward-checkout-"));
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const names = await readFile(join(root, NAMES), "utf8");
  await writeFile(join(root, NAMES), names.replace(/VERSION = "[^"]+"/, 'VERSION = "99.0.0"'));
  return { root, close: () => rm(root, { recursive: true, force: true }) };
}
