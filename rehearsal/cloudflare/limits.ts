/**
 * What the rehearsal's Cloudflare does not model. The rehearsal prints this list.
 *
 * `max_instances`: https://developers.cloudflare.com/workers/wrangler/configuration/#containers says what it bounds, and
 * https://developers.cloudflare.com/durable-objects/api/container/#start that `start()` does not wait. Neither documents
 * how a start beyond it fails.
 */
export const LIMITS: readonly string[] = [
  "In a gradual deployment the version with the largest share has every Durable Object, and affinity keys are not read.",
  "Cron triggers are stored, not fired; Durable Object alarms are.",
  "R2 lifecycle rules, jurisdictions and storage classes are stored, not enforced.",
  "The API reads and writes an R2 object as a whole, and knows no ranges, conditions or delimiters.",
  "A custom domain is taken as it is: no zone, DNS record or certificate is checked.",
  "No zones, routes, preview URLs, static assets or declarative exports.",
  "Renaming a Worker and transferring a Durable Object class to another Worker are refused as not modelled.",
  "CPU, memory, duration, subrequest and size limits of the platform are not enforced, nor are its API's rate limits.",
  "Container applications: no placement or instance types. A full_manual rollout stays pending; a full_auto one replaces all containers at once, and counts them as one.",
  "max_instances: not enforced where Docker runs the containers. Elsewhere a start beyond it fails in monitor() and at the first request, in the words of Cloudflare's sandbox-sdk, since none are documented; a lower number stops no container.",
  "A version from before a Durable Object migration can be deployed again, which Cloudflare's rollbacks refuse.",
  "A version may bind a Durable Object class that its code does not export.",
  "There is no container registry, and nothing is pushed: an image is one that this machine has.",
  "A stopped container is killed after seconds, not after the platform's 15 minutes; a container without Docker is a local process that shares this machine's network and file system.",
  "Without Docker a Durable Object with a container is never evicted, and ctx.container has no exec, inspect, connect, snapshots or outbound interception.",
  "Access: self-hosted applications, e-mail, e-mail domain and everyone rules; no groups, service tokens, device posture, CORS settings or one-time PINs, and signing in asks for no proof.",
  "Access cookies lack Secure, since the rehearsal is plain HTTP on loopback.",
  "A policy that an application uses can be deleted.",
];
