/** Client, as the platform knows it beside the request itself. */
export interface Client {
  /** The address that the connection came from; never what a request says of itself. */
  clientAddress: string | undefined;
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 one: one client has all addresses that begin so. */
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

/** Header of a page that loads itself again, which is no use of the container. */
export const LOOK_HEADER = "steward-look";
/** Value of {@link LOOK_HEADER} if the page reloads because the server reported a change. */
export const LOOK_AFTER_CHANGE = "change";
