import type { SandboxStatus } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** How an event was taken in. */
export interface Admission {
  /** The platform's event id was known already: nothing was stored anew. */
  duplicate: boolean;
  /** The gateway was ready when the event was recorded. */
  ready: boolean;
}

/** Counts of ledger entries by state. */
export interface LedgerCounts {
  received: number;
  delivering: number;
  answered: number;
  dead: number;
}

/**
 * What the edge sees of the ledger. When `admit` returns, the event is on disk and its delivery is
 * under way: a sleeping sandbox is being started.
 */
export interface Ledger {
  admit(event: Delivery): Promise<Admission>;
  counts(): Promise<LedgerCounts>;
}

/** The two HTTP servers inside the container. */
export type SandboxPort = "gateway" | "supervisor";

/** A request into the container in plain data, so that it can cross from a Worker to its Durable Object. */
export interface PortRequest {
  method: "GET" | "POST";
  /** Path with query. */
  path: string;
  body?: string;
}

/** What the edge sees of the container. */
export interface Sandbox {
  /** Wakes nothing. */
  status(): Promise<SandboxStatus>;
  /** A visitor's wish that a stopped container starts, in the background. False: not granted this time. */
  wake(): Promise<boolean>;
  /** Asks one of the container's servers, with the control token added; starts the container where it is stopped. */
  request(port: SandboxPort, request: PortRequest): Promise<Response>;
}
