import ipaddr from "ipaddr.js";

/**
 * Addresses that look public but lead to the platform itself when used inside Azure:
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);
/** Metadata services outside the link-local range: Azure, AWS over IPv6, Alibaba Cloud. */
const METADATA = new Set([...PLATFORM_ADDRESSES, "fd00:ec2::254", "100.100.100.200"]);
/** Address ranges that are allowed for a proxy: the internet, this machine and private networks. */
const PROXY_RANGES = new Set(["unicast", "private", "loopback", "uniqueLocal", "carrierGradeNat"]);
const GIVEN_OUT = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Returns true only for plain unicast addresses. Excludes loopback, private, link-local (including cloud metadata),
 * carrier-grade NAT, multicast, reserved, and IPv6 forms that embed IPv4.
 */
export function isPublicAddress(address: string): boolean {
  // An address with a zone is link-local (`fe80::1%eth0`).
  if (address.includes("%") || !isFullForm(address) || PLATFORM_ADDRESSES.has(address)) return false;
  const parsed = ipaddr.parse(address);
  // Public IPv6 addresses are in 2000::/3 (RFC 4291, section 2.4). `range()` would also accept others, such as
  // `::7f00:1`, which embeds 127.0.0.1.
  const isGiven = parsed instanceof ipaddr.IPv4 || parsed.match(GIVEN_OUT);
  return isGiven && parsed.range() === "unicast";
}

/**
 * Returns true if a proxy may have this address. Excludes link-local and cloud metadata addresses, even if an IPv6
 * address embeds them.
 */
export function isProxyAddress(address: string): boolean {
  if (address.includes("%") || !isFullForm(address)) return false;
  const parsed = ipaddr.process(address);
  return PROXY_RANGES.has(parsed.range()) && !METADATA.has(parsed.toString());
}

/** Returns false for short, octal and hexadecimal forms of IPv4 addresses. */
function isFullForm(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
}
