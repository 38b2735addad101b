import { freePorts } from "../../rehearsal/ports.ts";

export { listens } from "../../rehearsal/ports.ts";

/** Returns a port that is free now, but not reserved. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
