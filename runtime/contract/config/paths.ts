import { platformSchema } from "../delivery.ts";

/** Returns the keys of a config's path; one that starts with a channel's name leaves out `channels`. */
export function keysOf(path: string): string[] {
  const keys = path.split(".");
  return platformSchema.safeParse(keys[0]).success ? ["channels", ...keys] : keys;
}
