/** Limit of connections of pages that are not let in. A new one replaces the oldest. */
const MOST = 50;
const MOST_OF_NETWORK = 8;

/**
 * Returns the oldest connection that gives way to one more of a network; `undefined` if there is room. A network that is
 * full replaces its own.
 *
 * @param strangers Connections of pages that are not let in, the oldest first.
 */
export function chooseEvicted<T extends { network: string }>(
  strangers: readonly T[],
  { network }: Pick<T, "network">,
): T | undefined {
  const ofNetwork = strangers.filter((one) => one.network === network);
  if (ofNetwork.length >= MOST_OF_NETWORK) return ofNetwork[0];
  return strangers.length >= MOST ? strangers[0] : undefined;
}
