import { pairingStores, type PairingStores } from "../pairing/stores.ts";
import type { CommandContext } from "./context.ts";

/** The pairing stores of the data directory; one that cannot be read is told beside the answer. */
export function commandStores({ settings, output, clock }: CommandContext): PairingStores {
  return pairingStores({
    home: settings.home,
    clock,
    onSetAside: ({ path, movedTo, problem }) =>
      output.warn(`${path} could not be read (${problem}). It was set aside as ${movedTo}.`),
  });
}
