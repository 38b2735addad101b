import { Hono } from "hono";
import * as z from "zod";
import type { AccountContext } from "../account/context.ts";
import { notModelled, ok, readBody } from "../envelope.ts";

const credentialsBody = z.strictObject({
  permissions: z.array(z.enum(["pull", "push", "list"])).min(1),
  expiration_minutes: z.int().positive(),
});

/** https://developers.cloudflare.com/api/resources/containers/subresources/registries/ */
export function registryRoutes({ store, issueCredentials }: AccountContext): Hono {
  const routes = new Hono();

  routes.post("/:domain/credentials", async (context) => {
    const { permissions } = await readBody(context, credentialsBody);
    if (issueCredentials === undefined) throw notModelled("the container registry");
    const { accountId } = store.state;
    const issued = issueCredentials(permissions);
    return ok(context, { account_id: accountId, registry_host: context.req.param("domain"), ...issued });
  });

  return routes;
}
