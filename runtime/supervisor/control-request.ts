import type { Readable } from "node:stream";

export interface ControlRequest {
  method: string;
  /** Path with query. */
  path: string;
  authorization: string | undefined;
  body?: string | undefined;
  /** Streamed body of the route that takes an archive; `body` is absent then. */
  content?: AsyncIterable<Uint8Array>;
  manifest?: string | undefined;
}

/** A JSON value (a problem document if `status` is an error) or an archive. */
export type ControlAnswer =
  | { status: number; value: unknown }
  | { status: number; content: Readable; size: number };

/** Handles requests to the control API, even while the gateway is dead. Never rejects. */
export type Control = (request: ControlRequest) => Promise<ControlAnswer>;
