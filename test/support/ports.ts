import { connect } from "node:net";
import { freePorts } from "../../rehearsal/ports.ts";

/** Returns a port that is free now, but not reserved. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
