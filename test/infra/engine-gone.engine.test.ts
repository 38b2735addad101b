import * as pulumi from "@pulumi/pulumi";
import resources from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestStack, ENGINE_MS, type TestStack, UPDATE_MS } from "../support/stack.ts";

/** The status of a call that found no connection (https://grpc.io/docs/guides/status-codes/). */
const UNAVAILABLE = 14;

let subject: TestStack;

beforeAll(async () => {
  subject = await createTestStack({
    program: () => Promise.resolve({ urn: new pulumi.ComponentResource("test:Kept", "kept").urn }),
    config: {},
  });
}, ENGINE_MS);

afterAll(() => subject?.close());

test(
  "a program that cannot reach its engine fails, and deletes nothing",
  async () => {
    await subject.stack.up();
    const question = vi
      .spyOn(resources.ResourceMonitorClient.prototype, "getDeploymentInfo")
      .mockImplementation((...words: unknown[]) => {
        const answer = words.at(-1) as (error: Error) => void;
        setImmediate(() => answer(Object.assign(new Error("no connection"), { code: UNAVAILABLE })));
        return {} as never;
      });
    await expect(subject.stack.up()).rejects.toThrow("no connection");
    question.mockRestore();
    expect((await subject.stack.preview()).changeSummary).toEqual({ same: 2 });
  },
  UPDATE_MS,
);
