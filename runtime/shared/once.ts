/**
 * Makes a value when it is first asked for, and keeps it. For schemas that each request needs: made while a module
 * loads, they count against the CPU time of a Worker's start
 * (https://developers.cloudflare.com/workers/platform/limits/#worker-startup-time).
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
