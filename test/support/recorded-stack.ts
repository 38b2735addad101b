import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll } from "vitest";
import { startRecorder, type Recorder } from "../rehearsal/providers/recorder.ts";
import { stackProgram } from "./program.ts";
import { cloudflareConfig, createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "./stack.ts";

/** A stack of the project's own program, whose Cloudflare records what it is asked. */
export interface RecordedStack {
  recorder: Recorder;
  subject: TestStack;
}

/** Opens a serverless stack with this configuration before the file's tests, and closes it behind them. */
export function recordedStack(config: ConfigMap): RecordedStack {
  const opened = {} as RecordedStack;
  beforeAll(async () => {
    opened.recorder = await startRecorder();
    opened.subject = await createTestStack({
      program: stackProgram(),
      config: {
        ...cloudflareConfig(opened.recorder.url, "test-token_0123456789abcdefghijklmnopqrstuv"),
        "steward:target": { value: "serverless" },
        "steward:accountId": { value: "00112233445566778899aabbccddeeff" },
        "steward:subdomain": { value: "acme" },
        ...config,
      },
    });
  }, ENGINE_MS);
  afterAll(async () => {
    await opened.subject?.close();
    await opened.recorder?.close();
  }, UPDATE_MS);
  return opened;
}
