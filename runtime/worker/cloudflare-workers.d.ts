declare module "cloudflare:workers" {
  import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";

  /** Base class of a Durable Object: https://developers.cloudflare.com/durable-objects/api/base/ */
  export abstract class DurableObject<Env> {
    protected ctx: DurableObjectState;
    protected env: Env;
    constructor(ctx: DurableObjectState, env: Env);
  }
}

/** https://developers.cloudflare.com/workers/runtime-apis/websockets/ */
declare const WebSocketPair: typeof import("@cloudflare/workers-types/index.ts").WebSocketPair;

/** https://developers.cloudflare.com/workers/runtime-apis/streams/transformstream/#fixedlengthstream */
declare const FixedLengthStream: typeof import("@cloudflare/workers-types/index.ts").FixedLengthStream;
