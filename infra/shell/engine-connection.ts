import type { ChannelOptions, Interceptor } from "@grpc/grpc-js";

const LOOK_MS = 1_000;
/** Method that a program calls first on its engine. */
const FIRST_QUESTION = "/pulumirpc.ResourceMonitor/GetDeploymentInfo";

/** Exits if this process's parent exits, because a killed engine cannot stop its program and providers. */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, LOOK_MS).unref();
}

let waiting: Promise<void> | undefined;

/**
 * Makes this process's Pulumi programs wait until their engine is reachable, and gives each client its own
 * connection.
 *
 * Without the wait, the SDK would mistake a slow connection for an engine that has exited (pulumi
 * sdk/nodejs/automation/server.ts). The program would succeed without registering anything, and the engine would
 * delete the whole stack.
 */
export function waitForEngine(): Promise<void> {
  waiting ??= addInterceptor();
  return waiting;
}

async function addInterceptor(): Promise<void> {
  // Import lazily: provider processes start often and need only `endWithParent`.
  const [{ InterceptingCall }, { default: settings }] = await Promise.all([
    import("@grpc/grpc-js"),
    import("@pulumi/pulumi/runtime/settings.js"),
  ]);
  // The SDK exports these options but omits them from its types.
  const { grpcClientOptions } = settings as unknown as {
    grpcClientOptions: ChannelOptions & { interceptors: Interceptor[] };
  };
  // With a shared pool, the SDK would reuse an exited engine's connection for a new engine on the same port.
  grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;
  /** Resolves when the first request of the latest Pulumi program has completed. */
  let reached = Promise.resolve();
  // The first request waits for the connection (https://grpc.io/docs/guides/wait-for-ready/); all other requests wait
  // for the first one's response.
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
