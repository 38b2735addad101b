import { flushCompileCache } from "node:module";
import grpc, { type handleUnaryCall, type Server } from "@grpc/grpc-js";
import type { Message } from "google-protobuf";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto, { type Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import service from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import proto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { toProperties, type Properties } from "./values.ts";
import { print } from "../../runtime/shared/terminal.ts";

export interface CheckFailure {
  property: string;
  reason: string;
}

/** Empty lists mean no change. */
interface Difference {
  changed: string[];
  replaces: string[];
}

/** State of a deployed resource. `inputs` are the arguments that a program would pass. */
export interface LiveState {
  id: string;
  inputs: Properties;
  outputs: Properties;
}

/** `type` is a token such as `cloudflare:index/worker:Worker`. */
export interface Provider {
  name: string;
  version: string;
  /** Receives the configuration before any resource call. `revealAll` unwraps its secrets. */
  configure(variables: Properties): void;
  /** Returns the inputs with computed values added, and the problems found in the inputs. Sends no request. */
  check(type: string, inputs: Properties): Promise<{ inputs: Properties; failures: CheckFailure[] }>;
  diff(type: string, before: Omit<LiveState, "id">, after: Properties): Difference;
  create(type: string, inputs: Properties): Promise<{ id: string; outputs: Properties }>;
  /** Reads a deployed resource; resolves to `undefined` if it is gone. */
  read(type: string, state: LiveState): Promise<LiveState | undefined>;
  update(type: string, id: string, inputs: Properties, outputs: Properties): Promise<Properties>;
  delete(type: string, id: string, inputs: Properties, outputs: Properties): Promise<void>;
}

interface ServedProvider {
  /** Value for PULUMI_DEBUG_PROVIDERS. */
  port: number;
  server: Server;
}

/**
 * Serves a provider on a free loopback port, with Pulumi's protocol (proto/pulumi/provider.proto). `main` of
 * `@pulumi/pulumi/provider` is unsuitable, because it discards the configuration, such as the API's address.
 *
 * @param create creates the provider for a connection; an engine opens one connection for each configuration
 */
export async function serveProvider(create: () => Provider): Promise<ServedProvider> {
  const server = new grpc.Server({ "grpc.max_receive_message_length": 400 * 1024 * 1024 });
  const providers = new Map<string, Provider>();
  const unary = <Request extends Message, Response extends Message>(
    answer: (request: Request, provider: Provider) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> => {
    return async (call, callback) => {
      try {
        const peer = call.getPeer();
        const provider = providers.get(peer) ?? create();
        providers.set(peer, provider);
        callback(null, await answer(call.request, provider));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        callback({ code: grpc.status.UNKNOWN, details: message });
      }
    };
  };
  server.addService(service.ResourceProviderService, {
    attach: unary(() => new emptyProto.Empty()),
    cancel: unary(() => new emptyProto.Empty()),
    getPluginInfo: unary((_, { version }) => new pluginProto.PluginInfo().setVersion(version)),
    getSchema: unary(() => new proto.GetSchemaResponse().setSchema("{}")),
    checkConfig: unary((request: messages.CheckRequest) =>
      new proto.CheckResponse().setInputs(request.getNews()),
    ),
    diffConfig: unary(() => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE)),
    configure: unary((request: messages.ConfigureRequest, provider) => {
      provider.configure(read(request.getArgs()));
      return new proto.ConfigureResponse().setAcceptsecrets(true);
    }),
    check: unary(check),
    diff: unary(diff),
    create: unary(createOne),
    read: unary(refresh),
    update: unary(update),
    delete: unary(remove),
  });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve({ port, server }),
    );
  });
}

/** Runs a provider in this process and prints its port. Exits when the parent process closes standard input. */
export async function runProvider(create: () => Provider): Promise<void> {
  process.stdin.once("end", () => process.exit()).resume();
  print(`${(await serveProvider(create)).port}
`);
  // Save Node's compile cache now, because Node does not save it when a signal ends the process.
  flushCompileCache();
}

async function check(request: messages.CheckRequest, provider: Provider) {
  const { inputs, failures } = await provider.check(tokenOf(request.getUrn()), read(request.getNews()));
  const list = failures.map(({ property, reason }) =>
    new proto.CheckFailure().setProperty(property).setReason(reason),
  );
  return new proto.CheckResponse().setInputs(write(inputs)).setFailuresList(list);
}

function diff(request: messages.DiffRequest, provider: Provider) {
  const { DIFF_NONE, DIFF_SOME } = proto.DiffResponse.DiffChanges;
  // With `ignoreChanges: ["*"]`, report no change, even if the account differs from the old inputs.
  if (request.getIgnorechangesList().includes("*")) return new proto.DiffResponse().setChanges(DIFF_NONE);
  const before = { inputs: read(request.getOldInputs()), outputs: read(request.getOlds()) };
  const { changed, replaces } = provider.diff(tokenOf(request.getUrn()), before, read(request.getNews()));
  return new proto.DiffResponse()
    .setChanges(changed.length === 0 ? DIFF_NONE : DIFF_SOME)
    .setDiffsList(changed)
    .setReplacesList(replaces);
}

async function createOne(request: messages.CreateRequest, provider: Provider) {
  const { id, outputs } = await provider.create(tokenOf(request.getUrn()), read(request.getProperties()));
  return new proto.CreateResponse().setId(id).setProperties(write(outputs));
}

async function refresh(request: messages.ReadRequest, provider: Provider) {
  const state = await provider.read(tokenOf(request.getUrn()), {
    id: request.getId(),
    inputs: read(request.getInputs()),
    outputs: read(request.getProperties()),
  });
  if (!state) return new proto.ReadResponse();
  const { id, inputs, outputs } = state;
  return new proto.ReadResponse().setId(id).setInputs(write(inputs)).setProperties(write(outputs));
}

async function update(request: messages.UpdateRequest, provider: Provider) {
  const type = tokenOf(request.getUrn());
  const news = read(request.getNews());
  const outputs = await provider.update(type, request.getId(), news, read(request.getOlds()));
  return new proto.UpdateResponse().setProperties(write(outputs));
}

async function remove(request: messages.DeleteRequest, provider: Provider) {
  const type = tokenOf(request.getUrn());
  await provider.delete(type, request.getId(), read(request.getOldInputs()), read(request.getProperties()));
  return new emptyProto.Empty();
}

/** Parses `urn:pulumi:<stack>::<project>::<parents>$<token>::<name>`. */
function tokenOf(urn: string): string {
  return urn.split("::")[2]?.split("$").at(-1) ?? "";
}

function read(struct: Struct | undefined): Properties {
  return toProperties(struct?.toJavaScript());
}

function write(properties: Properties): Struct {
  return structProto.Struct.fromJavaScript(properties);
}
