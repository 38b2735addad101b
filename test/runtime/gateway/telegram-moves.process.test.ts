import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChatMoves } from "../../../runtime/gateway/channels/telegram/moves.ts";
import { openStore } from "../../../runtime/gateway/store.ts";

function stored() {
  const home = mkdtempSync(join(tmpdir(), "steward-moves-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return () => {
    const database = openStore(join(home, "state.db"));
    onTestFinished(() => database.close());
    return new ChatMoves(database);
  };
}

test("a group's new id is known after a restart, and the group by its former one", () => {
  const open = stored();
  open().note("-9", "-1009");
  const moves = open();
  expect([moves.knownAs("-1009"), moves.knownAs("-9"), moves.knownAs("-8")]).toEqual(["-9", "-9", "-8"]);
  expect([moves.current("-9"), moves.current("-1009"), moves.current("-8")]).toEqual([
    "-1009",
    "-1009",
    "-8",
  ]);
});

test("no group takes the place of one that is known, and none becomes itself", () => {
  const moves = stored()();
  moves.note("-9", "-1009");
  moves.note("-7", "-1009");
  moves.note("-9", "-1010");
  moves.note("-1009", "-9");
  moves.note("-5", "-5");
  expect([moves.knownAs("-1009"), moves.current("-9"), moves.current("-7")]).toEqual(["-9", "-1009", "-7"]);
  expect([moves.knownAs("-9"), moves.knownAs("-5")]).toEqual(["-9", "-5"]);
});
