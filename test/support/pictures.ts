import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";

export const PICTURES = "docs/pictures";

export const PICTURES_MADE_FROM = `${PICTURES}/made-from.txt`;

/** Returns a digest of the code that draws the documentation's pictures. If it changes, they are stale. */
export function pictureSources(): string {
  const files = [
    ...globSync("runtime/edge/ui/*.{css,tsx}"),
    ...globSync("runtime/edge/admin/{overview,overview-cards,devices}.tsx"),
    "runtime/edge/health.ts",
    ...globSync("rehearsal/{report,message,deploy}.ts"),
  ].sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0${readFileSync(file, "utf8")}\0`);
  return hash.digest("hex");
}
