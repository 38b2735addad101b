import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { promisify } from "node:util";
import { Client, credentials, Server, ServerCredentials, status } from "@grpc/grpc-js";
import * as pulumi from "@pulumi/pulumi";
import settings from "@pulumi/pulumi/runtime/settings.js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../support/ports.ts";
import { createTestStack, ENGINE_MS, type TestStack, UPDATE_MS } from "../support/stack.ts";

/** The place of the monitor's address among the arguments of `resetOptions`. */
const MONITOR = 4;
/** Long enough for a first attempt to fail. */
const UNREACHABLE_MS = 1_500;

let subject: TestStack;

beforeAll(async () => {
  subject = await createTestStack({
    program: () => Promise.resolve({ urn: new pulumi.ComponentResource("test:Kept", "kept").urn }),
    config: {},
  });
}, ENGINE_MS);

afterAll(() => subject?.close());

test(
  "a program whose engine cannot be reached at first waits for it, and nothing is deleted",
  async () => {
    await subject.stack.up();
    const proxy = await lateProxy();
    const options = vi.spyOn(settings, "resetOptions").mockImplementation((...given) => {
      options.mockRestore();
      settings.resetOptions(...(given.with(MONITOR, proxy.to(given[MONITOR] as string)) as typeof given));
    });
    await subject.stack.up();

    expect(proxy.close()).toBe(true);
    expect((await subject.stack.preview()).changeSummary).toEqual({ same: 2 });
  },
  UPDATE_MS,
);

test("an engine at the port of one that has ended is reached at once", async () => {
  const port = await freePort();
  const ended = connection(port);
  expect(await codeOf(ended)).toBe(status.UNAVAILABLE);

  const server = new Server();
  await promisify(server.bindAsync.bind(server))(`127.0.0.1:${port}`, ServerCredentials.createInsecure());
  const next = connection(port);
  expect(await codeOf(next)).toBe(status.UNIMPLEMENTED);

  ended.close();
  next.close();
  server.forceShutdown();
});

/** A client with the options that the SDK gives its own. */
function connection(port: number): Client {
  const { grpcClientOptions } = settings as unknown as { grpcClientOptions: object };
  return new Client(`127.0.0.1:${port}`, credentials.createInsecure(), grpcClientOptions);
}

/** What a question that no service knows is answered with. */
function codeOf(client: Client): Promise<status | undefined> {
  const bytes = (value: Buffer) => value;
  return new Promise((resolve) => {
    const answered = (error: { code: status } | null) => resolve(error?.code);
    client.makeUnaryRequest("/test.Unknown/Ask", bytes, bytes, Buffer.alloc(0), answered);
  });
}

/** A proxy on loopback that starts to listen after `UNREACHABLE_MS`. */
async function lateProxy() {
  const port = await freePort();
  let target = "";
  const proxy = createServer((near) => {
    const far = connect(Number(target.split(":").at(-1)), "127.0.0.1");
    pipeline(near, far, near, () => undefined);
  });
  return {
    /** Returns the proxy's address, which leads to another one. */
    to(address: string): string {
      target = address;
      setTimeout(() => proxy.listen(port, "127.0.0.1"), UNREACHABLE_MS);
      return `127.0.0.1:${port}`;
    },
    /** Stops it, and returns true if it was listening. */
    close(): boolean {
      const { listening } = proxy;
      proxy.close();
      return listening;
    },
  };
}
