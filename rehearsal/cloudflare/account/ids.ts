import { randomBytes, randomUUID } from "node:crypto";

/** Returns 32 hexadecimal digits: the form of Worker, namespace and account ids. */
export function hexId(): string {
  return randomBytes(16).toString("hex");
}

/** Returns 64 hexadecimal digits: the form of an Access application's audience tag. */
export function audienceTag(): string {
  return randomBytes(32).toString("hex");
}

/** Returns an id for a version, deployment, Access resource or container application. */
export function uuid(): string {
  return randomUUID();
}
