import type { MiddlewareHandler } from "hono";
import { resolveSecret } from "../../contract/config/text.ts";
import type { Config } from "../../contract/config/index.ts";
import type { Environment } from "../../contract/environment.ts";
import { bearerToken, isSameToken } from "../../shared/token.ts";

export interface GatewayTokenOptions {
  config(): Pick<Config, "gateway">;
  environment: Environment;
}

/** Admits callers that send `gateway.token` as a Bearer token. Refuses everyone if the config has no token. */
export function requireGatewayToken(
  { config, environment }: GatewayTokenOptions,
  refuse: () => Response,
): MiddlewareHandler {
  return async function checkGatewayToken(context, next) {
    const { token } = config().gateway;
    const expected = token === undefined ? "" : resolveSecret(token, environment);
    if (!isSameToken(bearerToken(context.req.header("authorization")), expected)) return refuse();
    return next();
  };
}
