import ipaddr from "ipaddr.js";

/** Public by form, and inside of Azure its platform: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16 */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);
/** Metadata services outside the link-local range: Azure's platform, AWS by IPv6, Alibaba Cloud. */
const METADATA = new Set([...PLATFORM_ADDRESSES, "fd00:ec2::254", "100.100.100.200"]);
/** Places where a proxy may be: the internet, this machine, or a private network. */
const PROXY_RANGES = new Set(["unicast", "private", "loopback", "uniqueLocal", "carrierGradeNat"]);
const GIVEN_OUT = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Tells whether an address is one of the open internet. Everything that is not plain unicast is refused:
 * loopback, private and unique-local, link-local (and with it the clouds' metadata), carrier-grade
 * NAT, multicast, reserved, and IPv6 forms that carry an IPv4 address (mapped, compatible, 6to4, NAT64,
 * Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // A zone (`fe80::1%eth0`) is only for addresses of one link.
  if (address.includes("%") || !isFullForm(address) || PLATFORM_ADDRESSES.has(address)) return false;
  const parsed = ipaddr.parse(address);
  // Of IPv6 only 2000::/3 is given out (RFC 4291 section 2.4): `::7f00:1` is how a URL writes ::127.0.0.1.
  const isGiven = parsed instanceof ipaddr.IPv4 || parsed.match(GIVEN_OUT);
  return isGiven && parsed.range() === "unicast";
}

/**
 * Tells whether an address may be that of a proxy which the operator names. Refused are link-local addresses, and with
 * them the clouds' metadata, in IPv4, in IPv6, and as IPv4 inside IPv6.
 */
export function isProxyAddress(address: string): boolean {
  if (address.includes("%") || !isFullForm(address)) return false;
  const parsed = ipaddr.process(address);
  return PROXY_RANGES.has(parsed.range()) && !METADATA.has(parsed.toString());
}

/** IPv4 of four decimal numbers, or IPv6: the short, octal and hexadecimal forms of IPv4 are refused. */
function isFullForm(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
}
