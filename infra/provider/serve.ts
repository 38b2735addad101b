import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Worker } from "node:worker_threads";
import grpc, { type handleUnaryCall } from "@grpc/grpc-js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import service from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import proto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import type { Message } from "google-protobuf";
import anyProto from "google-protobuf/google/protobuf/any_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto, { type Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import manifest from "../../package.json" with { type: "json" };
import { runInContext } from "../shell/connection.ts";
import { keepSecret, reveal } from "./secrets.ts";

const { DIFF_NONE, DIFF_SOME, DIFF_UNKNOWN } = proto.DiffResponse.DiffChanges;
const MAX_BYTES = 400 * 1024 * 1024;

/**
 * Serves this package's resources on a free loopback port and returns the port. Implements Pulumi's resource provider
 * protocol (pulumi proto/pulumi/provider.proto).
 *
 * Does not use `main` of `@pulumi/pulumi/provider`, because `main` copies all `steward:*` configuration, including
 * secrets, into the state.
 *
 * @param engine the engine's address, for log messages
 */
export async function serve(engine: string): Promise<number> {
  const log = logTo(engine);
  const unary = <Request extends Message & { getUrn?(): string }, Response extends Message>(
    answer: (request: Request) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> => {
    return async ({ request }, callback) => {
      const said: Promise<void>[] = [];
      const say = (line: string) => void said.push(log(request.getUrn?.() ?? "", line));
      const answered = await runInContext({ say }, async () => answer(request)).catch(refusal);
      // Await the log lines: the engine exits after the response to its last request.
      await Promise.all(said);
      if ("code" in answered) callback(answered);
      else callback(null, answered);
    };
  };
  const server = new grpc.Server({ "grpc.max_receive_message_length": MAX_BYTES });
  server.addService(service.ResourceProviderService, {
    attach: unary(() => new emptyProto.Empty()),
    cancel: unary(() => new emptyProto.Empty()),
    getPluginInfo: unary(() => new pluginProto.PluginInfo().setVersion(manifest.version)),
    getSchema: unary(async () => new proto.GetSchemaResponse().setSchema(await schema())),
    // The provider has no configuration: each resource's inputs include credentials and addresses.
    checkConfig: unary(() => new proto.CheckResponse().setInputs(toStruct({}))),
    diffConfig: unary(() => new proto.DiffResponse().setChanges(DIFF_NONE)),
    // The engine requires every provider that offers components to accept secrets.
    configure: unary(() => new proto.ConfigureResponse().setAcceptsecrets(true)),
    check: unary(check),
    diff: unary(diff),
    create: unary(create),
    read: unary(read),
    update: unary(update),
    delete: unary(remove),
    construct: unary(constructIn(engine)),
  });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

function schema(): Promise<string> {
  return readFile(new URL("schema.json", import.meta.url), "utf8");
}

/**
 * Returns a function that logs to an engine (pulumi proto/pulumi/engine.proto). The engine does not show the output of
 * a provider's process.
 */
function logTo(address: string): (urn: string, line: string) => Promise<void> {
  const client = new engineService.EngineClient(address, grpc.credentials.createInsecure());
  const severity = engineProto.LogSeverity.INFO;
  return (urn, line) => {
    const request = new engineProto.LogRequest().setSeverity(severity).setUrn(urn).setMessage(line);
    return new Promise((done) => void client.log(request, () => done()));
  };
}

/**
 * Returns a function that creates components for programs in other languages. On first use, the returned function
 * starts a thread with Pulumi's SDK, because the main thread has only a substitute (sdk.ts).
 */
function constructIn(
  engine: string,
): (request: messages.ConstructRequest) => Promise<messages.ConstructResponse> {
  let started: Promise<service.ResourceProviderClient> | undefined;
  return async (request) => {
    started ??= startComponents(engine);
    const client = await started;
    return new Promise((resolve, reject) => {
      client.construct(request, (error, response) =>
        error ? reject(new Error(error.details)) : resolve(response),
      );
    });
  };
}

async function startComponents(engine: string): Promise<service.ResourceProviderClient> {
  const file = new URL(`components${path.extname(import.meta.filename)}`, import.meta.url);
  // Capture standard output, to which the SDK's server prints its port.
  const thread = new Worker(file, { argv: [engine], stdout: true });
  const [port] = (await once(thread.stdout, "data")) as [Buffer];
  return new service.ResourceProviderClient(
    `127.0.0.1:${port.toString().trim()}`,
    grpc.credentials.createInsecure(),
  );
}

/** Imports the resource methods. Must run after the port is printed, because the engine waits for the port. */
export function methods(): Promise<typeof import("./methods.ts")> {
  return import("./methods.ts");
}

/** Converts an error for gRPC. For an incomplete resource, the result includes the resource's id and properties. */
function refusal(error: unknown) {
  const details = error instanceof Error ? error.message : String(error);
  const code = grpc.status.UNKNOWN;
  if (!(error instanceof Error) || !("id" in error) || !("properties" in error)) return { code, details };
  const failed = new proto.ErrorResourceInitFailed()
    .setId(String(error.id))
    .setProperties(toStruct(error.properties as object))
    .setReasonsList([details]);
  const packed = new anyProto.Any();
  packed.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new statusProto.Status().setCode(code).setMessage(details).setDetailsList([packed]);
  const metadata = new grpc.Metadata();
  // https://grpc.io/docs/guides/error/#richer-error-model
  metadata.add("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return { code, details, metadata };
}

async function check(request: messages.CheckRequest) {
  const { inputs, reason } = await (
    await methods()
  ).check(request.getUrn(), fields(request.getOlds()), fields(request.getNews()));
  const response = new proto.CheckResponse().setInputs(toStruct(inputs, request.getNews()));
  // Leave the failure's `property` field unset. Otherwise, the engine would also print the resource's values.
  return reason === undefined
    ? response
    : response.setFailuresList([new proto.CheckFailure().setReason(reason)]);
}

async function diff(request: messages.DiffRequest) {
  const stored = {
    urn: request.getUrn(),
    id: request.getId(),
    inputs: fields(request.getOldInputs()),
    outputs: fields(request.getOlds()),
  };
  const found = await (await methods()).diff(stored, fields(request.getNews()));
  const { changes, replaces = [], deleteBeforeReplace = false } = found ?? {};
  return new proto.DiffResponse()
    .setChanges(changes === undefined ? DIFF_UNKNOWN : changes ? DIFF_SOME : DIFF_NONE)
    .setReplacesList(replaces)
    .setDeletebeforereplace(deleteBeforeReplace);
}

async function create(request: messages.CreateRequest) {
  const { id, outs } = await (await methods()).create(request.getUrn(), fields(request.getProperties()));
  return new proto.CreateResponse().setId(id).setProperties(toStruct(outs, request.getProperties()));
}

async function read(request: messages.ReadRequest) {
  const stored = {
    urn: request.getUrn(),
    id: request.getId(),
    inputs: fields(request.getInputs()),
    outputs: fields(request.getProperties()),
  };
  const found = await (await methods()).read(stored);
  if (found === undefined) return new proto.ReadResponse();
  return new proto.ReadResponse()
    .setId(found.id)
    .setInputs(toStruct(found.inputs, request.getInputs()))
    .setProperties(toStruct(found.outputs, request.getProperties()));
}

async function update(request: messages.UpdateRequest) {
  const stored = {
    urn: request.getUrn(),
    id: request.getId(),
    inputs: fields(request.getOldInputs()),
    outputs: fields(request.getOlds()),
  };
  const outs = await (await methods()).update(stored, fields(request.getNews()));
  return new proto.UpdateResponse().setProperties(toStruct(outs, request.getNews()));
}

async function remove(request: messages.DeleteRequest) {
  await (
    await methods()
  ).remove({
    urn: request.getUrn(),
    id: request.getId(),
    inputs: fields(request.getOldInputs()),
    outputs: fields(request.getProperties()),
  });
  return new emptyProto.Empty();
}

function fields(struct: Struct | undefined): Record<string, unknown> {
  return reveal({ ...struct?.toJavaScript() });
}

/**
 * Converts values for gRPC.
 *
 * @param like The request's properties. A value that is secret in `like` stays secret.
 */
function toStruct(values: object, like?: Struct): Struct {
  // Drop `undefined` values, which a Struct cannot contain.
  const stored = JSON.parse(JSON.stringify(values)) as Record<string, unknown>;
  return structProto.Struct.fromJavaScript(keepSecret(stored, { ...like?.toJavaScript() }) as never);
}
