import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OLDEST_STATE_SCHEMA, STATE_SCHEMA } from "../../../runtime/contract/names.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";

test("a new database has the schema that images are labelled with", async () => {
  const database = openStore(join(await temporaryDirectory(), "state.db"));

  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: STATE_SCHEMA });
  database.close();
});

test.each([
  ["newer", "data_newer", STATE_SCHEMA + 1, `up to ${STATE_SCHEMA}`],
  ["too old", "data_older", OLDEST_STATE_SCHEMA - 1, `${OLDEST_STATE_SCHEMA} and later`],
])("a database of a %s version is refused by its code, and left as it is", async (_, code, schema, read) => {
  const file = join(await temporaryDirectory(), "state.db");
  const database = openStore(file);
  database.exec(`PRAGMA user_version = ${schema}`);
  database.close();
  const before = await readFile(file);

  const open = () => openStore(file);

  expect(open).toThrow(expect.objectContaining({ code }));
  expect(open).toThrow(`has schema ${schema}, this version reads ${read}`);
  expect(await readFile(file)).toEqual(before);
});
