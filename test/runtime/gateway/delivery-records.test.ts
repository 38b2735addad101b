import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { DeliveryRecords } from "../../../runtime/gateway/inbox/records.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";

const target = { chat: "C1" };

/** A store that has no room for anything more, until it gets some. */
async function fullStore() {
  const database: DatabaseSync = openStore(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => database.close());
  const records = new DeliveryRecords(database);
  database.exec(`CREATE TABLE filler (text); PRAGMA max_page_count = 1`);
  expect(() => {
    for (;;) database.exec("INSERT INTO filler VALUES (zeroblob(512))");
  }).toThrow("full");
  return { database, records, makeRoom: () => database.exec("PRAGMA max_page_count = 1000000") };
}

test("what is out counts although it cannot be written, and is written with the next that can be", async () => {
  const { database, records, makeRoom } = await fullStore();
  const many = Array.from({ length: 200 }, (_, index) => `E${index}`);

  for (const id of many) {
    records.keepDraft({ platform: "slack", id }, `draft of ${id}`, target, 1_000);
    records.say({ platform: "slack", id }, "It takes longer.", 1_000);
    records.sent({ platform: "slack", id }, 2, 1_000);
  }
  records.answer("slack", many, 2_000);

  const facts = (id: string) => ({
    sent: 2,
    answered: true,
    said: "It takes longer.",
    draft: `draft of ${id}`,
    target,
  });
  for (const id of many) expect(records.of({ platform: "slack", id })).toMatchObject(facts(id));
  expect(new DeliveryRecords(database).of({ platform: "slack", id: "E199" }).answered).toBe(false);

  makeRoom();
  records.answer("slack", ["next"], 3_000);

  const afresh = new DeliveryRecords(database);
  for (const id of many) expect(afresh.of({ platform: "slack", id })).toMatchObject(facts(id));
});

test("an error that is not the disk's is thrown", async () => {
  const { database, records, makeRoom } = await fullStore();
  makeRoom();
  database.exec("DROP TABLE deliveries");

  expect(() => records.answer("slack", ["E1"], 1_000)).toThrow("no such table");
});
