import type { Readable } from "node:stream";

/** A request to the control API. */
export interface ControlRequest {
  method: string;
  /** Path with query. */
  path: string;
  authorization: string | undefined;
  body?: string | undefined;
  /** The body as it comes, of the one route that takes an archive; `body` is not there then. */
  content?: AsyncIterable<Uint8Array>;
  /** The header `steward-manifest`. */
  manifest?: string | undefined;
}

/** Its answer: a value as JSON, which is a problem document where `status` is an error's, or an archive. */
export type ControlAnswer =
  | { status: number; value: unknown }
  | { status: number; content: Readable; size: number };

/** The control API. It answers while the gateway is dead: that is when it is needed. Never rejects. */
export type Control = (request: ControlRequest) => Promise<ControlAnswer>;
