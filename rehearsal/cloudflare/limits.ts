/**
 * Lines that the rehearsal prints about its differences from Cloudflare. Documentation of containers:
 * https://developers.cloudflare.com/workers/wrangler/configuration/#containers
 * https://developers.cloudflare.com/durable-objects/api/container/#start
 */
export const LIMITS: readonly string[] = [
  "In a gradual deployment, the version with the largest share runs every Durable Object; affinity keys are ignored.",
  "Cron triggers are stored but never fire; Durable Object alarms do fire.",
  "R2 lifecycle rules, jurisdictions and storage classes are stored, not enforced.",
  "R2 objects are read and written as a whole, without ranges, conditions or delimiters.",
  "Custom domains are accepted without checking zone, DNS records or certificates.",
  "No zones, routes, preview URLs, static assets or declarative exports.",
  "Renaming a Worker and transferring a Durable Object class to another Worker are rejected.",
  "The platform's limits on CPU, memory, duration, subrequests, sizes and API requests are not enforced.",
  "Container applications: no placement or instance types. A full_manual rollout stays pending; a full_auto one replaces all containers together and counts them as one.",
  "max_instances is not enforced with Docker. Without Docker, a start beyond it fails in monitor() and at the first request; the error text is from Cloudflare's sandbox-sdk, since none is documented. Lowering it stops no container.",
  "A version from before a Durable Object migration can be deployed again, which Cloudflare's rollbacks refuse.",
  "A version may bind a Durable Object class that its code does not export.",
  "There is no container registry: images are local and are never pushed.",
  "A stopping container is killed after 10 seconds instead of 15 minutes. Without Docker, a container is a local process that shares this machine's network and file system.",
  "Without Docker a Durable Object with a container is never evicted, and ctx.container has no exec, inspect, connect, snapshots or outbound interception.",
  "Access: self-hosted applications, e-mail, e-mail domain and everyone rules; no groups, service tokens, device posture, CORS settings or one-time PINs. Sign-in does not verify the address.",
  "Access cookies lack Secure, because the rehearsal uses plain HTTP on loopback.",
  "A policy that an application uses can be deleted.",
];
