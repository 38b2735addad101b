/** Facts about a client. The client cannot forge them, because the hosting platform provides them. */
export interface Client {
  /** The connection's remote address; never taken from a request header. */
  clientAddress: string | undefined;
}

/** Returns an identifier of a client's network: the whole `address` for IPv4, or its first 64 bits for IPv6. */
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

/** Header of a page's automatic reload, which does not keep the container awake. */
export const RELOAD_HEADER = "steward-look";
/** Value of {@link RELOAD_HEADER} if the page reloads because the server reported a change. */
export const RELOAD_CHANGE = "change";
