/** Facts about a client that come from the platform, not from the request. */
export interface Client {
  /** The connection's remote address; never taken from a request header. */
  clientAddress: string | undefined;
}

/**
 * Returns an IPv4 address, or the first 64 bits of an IPv6 address, because one client usually has that whole network.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}

/** Marks the request of a page that reloads itself. It does not count as use, so the container may sleep. */
export const LOOK_HEADER = "steward-look";
/** Value of {@link LOOK_HEADER} if the page reloads because the server reported a change. */
export const LOOK_AFTER_CHANGE = "change";
