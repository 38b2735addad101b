import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { storeFailure } from "../../process/database.ts";
import { pairedFileSchema, pendingFileSchema } from "../devices/files.ts";
import { approvedSchema, requestsSchema } from "../pairing/files.ts";
import { readStore } from "../store-file.ts";
import { fine, wrong, type DoctorOptions, type Finding } from "./finding.ts";
import { setAsideFiles } from "./set-aside.ts";

/** state.db as a whole, the JSON stores, and what was set aside. Nothing is changed by looking. */
export function checkStores({ settings }: DoctorOptions): Finding[] {
  const { home } = settings;
  const aside = setAsideFiles(home).map((path) =>
    wrong(
      "stores",
      "warning",
      "store_corrupt",
      `${path} could not be read and was set aside; delete it when done.`,
    ),
  );
  const stores = ["credentials", "devices"].flatMap((name) => checkJson(join(home, name)));
  return [checkDatabase(join(home, "state.db")), ...stores, ...aside];
}

function checkDatabase(path: string): Finding {
  if (!existsSync(path)) return fine("state.db", "Not there yet; the gateway makes it");
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const said = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (said === "ok") return fine("state.db", `${path} is whole`);
  } catch (error) {
    const failure = storeFailure(error, path);
    if (failure === undefined) throw error;
    return wrong("state.db", "problem", failure.code, failure.message);
  }
  return wrong("state.db", "problem", "store_corrupt", `${path} is corrupt.`);
}

/** The JSON stores, by how their names end. */
const JSON_STORES = {
  "-pairing.json": requestsSchema,
  "-allowFrom.json": approvedSchema,
  "pending.json": pendingFileSchema,
  "paired.json": pairedFileSchema,
} as const;

function checkJson(directory: string): Finding[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const [, schema] = Object.entries(JSON_STORES).find(([end]) => name.endsWith(end)) ?? [];
    if (schema === undefined) return [];
    const path = join(directory, name);
    const reading = readStore<unknown>(path, schema);
    if (reading.ok) return [fine("stores", `${path} is readable`)];
    return [wrong("stores", "problem", "store_corrupt", `${path} is not a store (${reading.problem}).`)];
  });
}
