/**
 * Returns a function that creates a value on first use. Schemas built while a module loads would count against a
 * Worker's startup CPU limit (https://developers.cloudflare.com/workers/platform/limits/#worker-startup-time).
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
