import { afterAll, beforeAll, describe } from "vitest";
import type { Target } from "../../support/targets/target.ts";
import { clientOf, type Client } from "./client.ts";
import { everyAnswer } from "./every-answer.ts";
import { whileDown } from "./while-down.ts";
import { onceUp } from "./once-up.ts";
import { operating } from "./operating.ts";

/** The engine is built and images are made where a cache is cold. */
const START_MS = 20 * 60_000;

/** The behaviour that every deployment shares, over HTTP alone: the same questions, the same answers. */
export function contractSuite(start: () => Promise<Target>): void {
  describe("the contract", () => {
    let started: Client | undefined;
    const client = (): Client => {
      if (started === undefined) throw new Error("the target is not started");
      return started;
    };
    beforeAll(async () => {
      started = clientOf(await start());
    }, START_MS);
    afterAll(() => started?.target.stop());

    // In this order: what comes while the gateway is down is answered once it is up.
    describe("while the gateway is down", () => {
      whileDown(client);
    });
    describe("while the gateway runs", () => {
      onceUp(client);
    });
    describe("for an operator", () => {
      operating(client);
    });
    describe("every answer", () => {
      everyAnswer(client);
    });
  });
}
