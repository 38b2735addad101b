import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PairingStore } from "../../../runtime/gateway/pairing/store.ts";
import type { StoreFileOptions } from "../../../runtime/gateway/store-file.ts";

/** Slack's pairing store below `home`, on a clock that the test moves. */
export function pairingStore(home: string, start = Date.now()) {
  const time = { now: start };
  const reports: Parameters<StoreFileOptions["onSetAside"]>[0][] = [];
  const store = new PairingStore({
    home,
    channel: "slack",
    clock: () => time.now,
    onSetAside: (report) => void reports.push(report),
  });
  return { store, time, reports };
}

/** A store's file as JSON. */
export async function storeFile(home: string, name: string) {
  return JSON.parse(await readFile(join(home, "credentials", name), "utf8"));
}
