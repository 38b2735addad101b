import { createServer } from "node:http";
import { closeServer, openServer } from "../../runtime/process/server.ts";
import { AUDIENCE, createSigner } from "./edge.ts";

/** An identity gateway's key server, and one operator whom it vouches for. */
export interface IdentityKeys {
  /** The variables that name it. */
  variables: { EDGE_ACCESS_TEAM_DOMAIN: string; EDGE_ACCESS_AUD: string };
  /** The operator's headers. */
  headers: { "cf-access-jwt-assertion": string };
  close(): Promise<void>;
}

/**
 * An identity gateway on this machine: nothing but the keys under
 * https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/validating-json/
 */
export async function startIdentityKeys(): Promise<IdentityKeys> {
  const { jwk, sign } = await createSigner();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
  });
  const origin = `http://127.0.0.1:${await openServer(server, "127.0.0.1", 0)}`;
  return {
    variables: { EDGE_ACCESS_TEAM_DOMAIN: origin, EDGE_ACCESS_AUD: AUDIENCE },
    headers: { "cf-access-jwt-assertion": await sign({ iss: origin }) },
    close: () => closeServer(server, 0),
  };
}
