import type { MiddlewareHandler } from "hono";
import { resolveSecret } from "../../contract/config/text.ts";
import type { Config } from "../../contract/config/index.ts";
import type { Environment } from "../../contract/environment.ts";
import { bearerToken, sameToken } from "../../contract/token.ts";

/** Dependencies of the check of the gateway token. */
export interface GatewayTokenOptions {
  config(): Pick<Config, "gateway">;
  environment: Environment;
}

/** Lets in who carries `gateway.token` as a Bearer. Without one in the config, nobody. */
export function requireGatewayToken(
  { config, environment }: GatewayTokenOptions,
  refuse: () => Response,
): MiddlewareHandler {
  return async function checkGatewayToken(context, next) {
    const { token } = config().gateway;
    const expected = token === undefined ? "" : resolveSecret(token, environment);
    if (!sameToken(bearerToken(context.req.header("authorization")), expected)) return refuse();
    return next();
  };
}
