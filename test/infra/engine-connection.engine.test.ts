import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
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
