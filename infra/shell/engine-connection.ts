import type { ChannelOptions, Interceptor } from "@grpc/grpc-js";

const LOOK_MS = 1_000;
/** The first question of a program to its engine. */
const FIRST_QUESTION = "/pulumirpc.ResourceMonitor/GetDeploymentInfo";

/**
 * Ends this process when the one that started it has ended. An engine that is killed cannot end its program and its
 * providers, which would wait for it for ever.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, LOOK_MS).unref();
}

let waiting: Promise<void> | undefined;

/**
 * Lets the inline programs of this process wait until their engine can be reached. On a busy machine a first connection
 * fails now and then. The SDK takes that for the end of the engine and may report success for a program that has
 * registered nothing (pulumi sdk/nodejs/automation/server.ts); the engine then deletes all that the stack has.
 *
 * Each client has connections of its own. gRPC shares them by address, and the SDK never closes those of an engine that
 * has ended: a new engine on the same port would be reported as one that cannot be reached.
 */
export function waitForEngine(): Promise<void> {
  waiting ??= addInterceptor();
  return waiting;
}

async function addInterceptor(): Promise<void> {
  // Loaded late: a provider's process, which needs the function above alone, starts for each operation of the engine.
  const [{ InterceptingCall }, { default: settings }] = await Promise.all([
    import("@grpc/grpc-js"),
    import("@pulumi/pulumi/runtime/settings.js"),
  ]);
  // The SDK exports it, but its types leave it out.
  const { grpcClientOptions } = settings as unknown as {
    grpcClientOptions: ChannelOptions & { interceptors: Interceptor[] };
  };
  grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;
  /** Settles when the newest program's first question is answered, or cannot be. */
  let reached = Promise.resolve();
  // The first question waits for the connection (https://grpc.io/docs/guides/wait-for-ready/), the others for its answer.
  grpcClientOptions.interceptors.push(
    (options, next) =>
      new InterceptingCall(next(options), {
        start: (metadata, listener, start) => {
          if (options.method_definition.path !== FIRST_QUESTION) {
            void reached.then(() => start(metadata, listener));
            return;
          }
          const { promise, resolve } = Promise.withResolvers<void>();
          reached = promise;
          metadata.setOptions({ ...metadata.getOptions(), waitForReady: true });
          start(metadata, {
            onReceiveStatus: (answer, tell) => {
              resolve();
              tell(answer);
            },
          });
        },
      }),
  );
}
