import { once } from "node:events";
import path from "node:path";
import { Worker } from "node:worker_threads";
import grpc from "@grpc/grpc-js";
import service from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb.js";

/**
 * Returns a function that creates components, for programs in other languages than Node's. They need Pulumi's SDK, which
 * the resources do without (sdk.ts), so a thread of their own serves them (components.ts). It starts with the first one.
 *
 * @param engine the engine's address
 */
export function constructIn(engine: string): (request: ConstructRequest) => Promise<ConstructResponse> {
  let started: Promise<service.ResourceProviderClient> | undefined;
  return async (request) => {
    started ??= start(engine);
    const client = await started;
    return new Promise((resolve, reject) => {
      client.construct(request, (error, response) => (error ? reject(new Error(error.details)) : resolve(response)));
    });
  };
}

async function start(engine: string): Promise<service.ResourceProviderClient> {
  const file = new URL(`components${path.extname(import.meta.filename)}`, import.meta.url);
  // The SDK's server prints its port there.
  const thread = new Worker(file, { argv: [engine], stdout: true });
  const [port] = (await once(thread.stdout, "data")) as [Buffer];
  return new service.ResourceProviderClient(
    `127.0.0.1:${port.toString().trim()}`,
    grpc.credentials.createInsecure(),
  );
}
