import type { Platform } from "../../contract/delivery.ts";
import { PairingStore, type PairingStoreOptions } from "./store.ts";

/** The pairing store of a channel. */
export type PairingStores = (channel: Platform) => PairingStore;

/** The pairing stores of a data directory. */
export function pairingStores(options: Omit<PairingStoreOptions, "channel">): PairingStores {
  return (channel) => new PairingStore({ ...options, channel });
}
