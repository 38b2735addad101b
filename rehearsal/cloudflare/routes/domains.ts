import { Hono } from "hono";
import * as z from "zod";
import type { AccountContext } from "../account/context.ts";
import { hexId } from "../account/ids.ts";
import { workerOf } from "../account/lookup.ts";
import type { DomainRecord } from "../account/state.ts";
import { ApiError, ok, readBody } from "../envelope.ts";

const attachBody = z.looseObject({ hostname: z.hostname(), service: z.string() });

/**
 * Routes for custom domains. Attaching a host name to another Worker changes the existing record:
 * https://developers.cloudflare.com/api/resources/workers/subresources/domains/
 */
export function domainRoutes({ store }: AccountContext): Hono {
  const routes = new Hono();

  routes.get("/", (context) => ok(context, store.state.domains));

  routes.put("/", async (context) => {
    const { hostname, service } = await readBody(context, attachBody);
    const domain = await store.change((draft) => {
      workerOf(draft, service);
      const former = draft.domains.find((one) => one.hostname === hostname);
      const attached: DomainRecord = { environment: "production", id: hexId(), ...former, hostname, service };
      draft.domains = [...draft.domains.filter((one) => one !== former), attached];
      return attached;
    });
    return ok(context, domain);
  });

  routes.get("/:domain", (context) =>
    ok(context, domainOf(store.state.domains, context.req.param("domain"))),
  );

  routes.delete("/:domain", async (context) => {
    await store.change((draft) => {
      const gone = domainOf(draft.domains, context.req.param("domain"));
      draft.domains = draft.domains.filter((one) => one !== gone);
    });
    return ok(context, null);
  });

  return routes;
}

function domainOf(domains: readonly DomainRecord[], id: string): DomainRecord {
  const found = domains.find((domain) => domain.id === id);
  if (found) return found;
  throw new ApiError(404, 100_114, "This domain does not exist on your account.");
}
