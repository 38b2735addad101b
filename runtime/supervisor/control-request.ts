import type { Readable } from "node:stream";

export interface ControlRequest {
  method: string;
  /** Path with query. */
  path: string;
  authorization: string | undefined;
  body?: string | undefined;
  /** Uploaded archive, as a stream. Requests with an archive have no `body`. */
  content?: AsyncIterable<Uint8Array>;
  manifest?: string | undefined;
}

/** A JSON value (a problem document if `status` is an error) or an archive. */
export type ControlAnswer =
  | { status: number; value: unknown }
  | { status: number; content: Readable; size: number };

/** Handles requests to the control API, even while the gateway is dead. Never rejects. */
export type Control = (request: ControlRequest) => Promise<ControlAnswer>;
