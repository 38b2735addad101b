import { ROUTES } from "../../runtime/contract/routes.ts";
import { stackRule, type Violation } from "../rule.ts";
import { seenApplications } from "../reading/access.ts";
import { valuesOf } from "../reading/variables.ts";

const WEBHOOKS: readonly string[] = Object.values(ROUTES).flatMap(({ access, path }) =>
  access === "webhook" ? [path] : [],
);
const HEALTH: string = ROUTES.live.path;

/**
 * Requires exactly the expected public paths: an extra path is open to everyone, and a missing path stops a platform's
 * messages. With PUBLIC_WEBHOOKS=false no webhook may be public.
 */
export const publicRoutesExact = stackRule({
  name: "public-routes-exact",
  description: "Access lets exactly the webhooks and the health check pass without an identity.",
  severity: "high",
  topics: ["access"],
  check(resources) {
    const applications = seenApplications(resources);
    if (applications.length === 0) return [];
    const webhooks = !valuesOf("PUBLIC_WEBHOOKS", resources).includes("false");
    const wanted = webhooks ? [...WEBHOOKS, HEALTH] : [];
    const allowed = [...wanted, HEALTH];
    const opened = applications.filter(({ bypassed }) => bypassed);
    const paths = opened.flatMap(({ destinations }) => destinations.map(({ path }) => path));
    const surplus = opened.flatMap(({ resource: { urn }, destinations }): Violation[] =>
      destinations
        .filter(({ path }) => !allowed.includes(path))
        .map(({ host, path }) => ({
          urn,
          message: `${host}${path} is open to everyone. Remove the destination: ${open(webhooks)}.`,
        })),
    );
    const missing = wanted.filter((path) => !paths.includes(path));
    if (missing.length === 0 || !applications.every(({ isKnown }) => isKnown)) return surplus;
    const message = `${missing.join(", ")} cannot be reached without an identity. Add it to the destinations of the application with the bypass policy.`;
    return [...surplus, { message }];
  },
});

function open(webhooks: boolean): string {
  return webhooks ? `only ${WEBHOOKS.join(", ")} and ${HEALTH} are public` : `only ${HEALTH} is public`;
}
