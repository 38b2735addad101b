import { platformSchema } from "../delivery.ts";

/** Splits a config path into keys. A path that starts with a channel's name may omit `channels`. */
export function keysOf(path: string): string[] {
  const keys = path.split(".");
  return platformSchema.safeParse(keys[0]).success ? ["channels", ...keys] : keys;
}
