import { setTimeout as sleep } from "node:timers/promises";
import { durableObject } from "./durable-object.ts";
import type { Step } from "./workerd/sandbox-object.ts";

const source = (variables: Record<string, string>): string => `
  import { Sandbox as Plain, default as door } from "./test/support/workerd/sandbox-object.ts";
  export class Sandbox extends Plain {
    constructor(ctx, env) { super(ctx, { ...env, ...${JSON.stringify(variables)} }); }
  }
  export default door;
`;

interface Outcome {
  value?: unknown;
  error?: { code?: string; message: string };
}

/** Starts a deployment's real Durable Objects in workerd, with stand-ins for their containers. */
export async function sandboxObjects(variables: Record<string, string> = {}) {
  const post = (await durableObject(source(variables), "Sandbox")) as (step: Step) => Promise<Outcome>;
  const steps = (object: string) => ({
    /** Throws the step's error, beginning with the code. */
    do: async <T = unknown>(name: string, ...given: unknown[]): Promise<T> => {
      const { value, error } = await post({ object, name, given });
      if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
      return value as T;
    },
  });
  return { one: steps("one"), two: steps("two"), chat: steps("slack-C1"), bucket: steps("bucket") };
}

/**
 * Returns the error with which `work` rejects. Advances the clock by only a second every 20 ms, because the container
 * needs real time to open its port.
 */
export async function refusalInTime(
  { do: step }: Awaited<ReturnType<typeof sandboxObjects>>["one"],
  work: Promise<unknown>,
): Promise<string> {
  const refusals: string[] = [];
  void work.catch((error: unknown) => refusals.push(String(error)));
  while (refusals.length === 0) {
    await step("skip", 1_000);
    await sleep(20);
  }
  return refusals.join("");
}

export interface Seen {
  calls: string[];
  starts: number;
  outlives: number[];
  running: boolean;
  gateway: "held" | "running";
  fired: number;
  /** In milliseconds since the epoch. */
  alarm: number | null;
  reported?: { code: string };
  stored: string[];
}
