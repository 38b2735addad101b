import { existsSync, statfsSync } from "node:fs";
import { fine, wrong, type DoctorOptions, type Finding } from "./finding.ts";

const MEBIBYTE = 1024 * 1024;
const LITTLE = 256 * MEBIBYTE;
const NONE = 16 * MEBIBYTE;

/** Whether there is room for what comes. */
export function checkDisk({ settings }: DoctorOptions): Finding[] {
  if (!existsSync(settings.home)) return [];
  const { bavail, bsize } = statfsSync(settings.home);
  const free = bavail * bsize;
  const detail = `${Math.floor(free / MEBIBYTE)} MiB are free at ${settings.home}.`;
  if (free >= LITTLE) return [fine("disk", detail)];
  return [wrong("disk", free < NONE ? "problem" : "warning", "disk_full", detail)];
}
