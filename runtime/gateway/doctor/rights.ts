import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fine, wrong, type DoctorOptions, type Finding } from "./finding.ts";

/** Folders of the data directory that hold what nobody else may read. */
const FOLDERS = ["", "credentials", "devices", "logs", "backups"];
const OTHERS = 0o077;

/** Whether other users of the machine may read the data directory. */
export function checkRights({ settings }: DoctorOptions): Finding[] {
  const wide = tooWide(settings.home);
  if (wide.length === 0) return [fine("rights", "The data directory is this user's alone")];
  const paths = wide.map(({ path }) => path).join(", ");
  return [wrong("rights", "problem", "rights_too_wide", `Others may use ${paths}.`)];
}

/** Takes the rights of others away. One line a change. */
export function mendRights({ settings }: DoctorOptions): string[] {
  return tooWide(settings.home).map(({ path, mode }) => {
    chmodSync(path, mode & ~OTHERS);
    return `rights of ${path}: ${mode.toString(8)} to ${(mode & ~OTHERS).toString(8)}`;
  });
}

function tooWide(home: string): { path: string; mode: number }[] {
  return FOLDERS.flatMap((folder) => {
    const directory = join(home, folder);
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
    const files = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(directory, name));
    return [directory, ...files]
      .map((path) => ({ path, mode: statSync(path).mode & 0o777 }))
      .filter(({ mode }) => (mode & OTHERS) !== 0);
  });
}
