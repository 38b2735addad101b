/** Maximum number of connections from pages that are not admitted yet. */
const MOST = 50;
const MAX_OF_NETWORK = 8;

/**
 * Returns the connection to close for a new one, or `undefined` if there is room. A network at its limit loses its
 * own oldest connection.
 *
 * @param strangers Connections of pages that are not admitted yet, oldest first.
 */
export function chooseEvicted<T extends { network: string }>(
  strangers: readonly T[],
  { network }: Pick<T, "network">,
): T | undefined {
  const ofNetwork = strangers.filter((one) => one.network === network);
  if (ofNetwork.length >= MAX_OF_NETWORK) return ofNetwork[0];
  return strangers.length >= MOST ? strangers[0] : undefined;
}
