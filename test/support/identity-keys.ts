import { createServer } from "node:http";
import { closeServer, openServer } from "../../runtime/process/server.ts";
import { AUDIENCE, createSigner } from "./edge.ts";

/**
 * Starts a stand-in that only serves an identity gateway's signing keys:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/validating-json/
 */
export async function openIdentityGateway() {
  const { jwk, sign } = await createSigner();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
  });
  const origin = `http://127.0.0.1:${await openServer(server, { hostname: "127.0.0.1", port: 0, taken: "port_in_use" })}`;
  const headersOf = async (email: string) => ({
    "cf-access-jwt-assertion": await sign({ iss: origin, email }),
  });
  return {
    variables: { EDGE_ACCESS_TEAM_DOMAIN: origin, EDGE_ACCESS_AUD: AUDIENCE },
    headers: await headersOf("operator@example.com"),
    headersOf,
    close: () => closeServer(server, 0),
  };
}
