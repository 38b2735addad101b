import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, list, text } from "../reading/values.ts";
import { handedVariables } from "../reading/variables.ts";

/** Requires a loopback address or TLS if ADMIN_TOKEN is set. Otherwise the token crosses the network unencrypted. */
export const hostLoopbackOrTls = resourceRule({
  name: "host-loopback-or-tls",
  description: "The admin pages are reachable only through loopback or TLS.",
  severity: "high",
  topics: ["access", "host"],
  configSchema: {
    properties: { tls: { type: "string", description: "What ends TLS in front of the port.", default: "" } },
  },
  types: [TYPES.container],
  check(resource, { tls }) {
    const admin = handedVariables(resource).some(({ name, value }) => name === "ADMIN_TOKEN" && value !== "");
    if (!admin || (typeof tls === "string" && tls.trim() !== "")) return [];
    return list(resource.props.ports).flatMap((port) => {
      const { external, ip } = fields(port);
      const address = text(ip) ?? "0.0.0.0";
      if (isLoopback(address)) return [];
      return [
        `ADMIN_TOKEN would cross the network unencrypted: port ${String(external)} is open on ${address}. Set steward:hostAddress to 127.0.0.1 behind a proxy with TLS, or name what ends TLS in the policy configuration: {"host-loopback-or-tls": {"tls": "…"}}.`,
      ];
    });
  },
});

function isLoopback(address: string): boolean {
  return address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);
}
