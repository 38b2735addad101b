import { join } from "node:path";
import { expect, test } from "vitest";
import { STATE_SCHEMA } from "../../../runtime/contract/names.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";

test("a new database has the schema that images are labelled with", async () => {
  const database = openStore(join(await temporaryDirectory(), "state.db"));

  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: STATE_SCHEMA });
  database.close();
});

test("a database of a newer version is refused by its code, and left as it is", async () => {
  const file = join(await temporaryDirectory(), "state.db");
  const newer = openStore(file);
  newer.exec(`PRAGMA user_version = ${STATE_SCHEMA + 1}`);
  newer.close();

  const open = () => openStore(file);

  expect(open).toThrow(expect.objectContaining({ code: "data_newer" }));
  expect(open).toThrow(`has schema ${STATE_SCHEMA + 1}, this version knows up to ${STATE_SCHEMA}`);
});
