import { expect, test } from "vitest";
import { Stage } from "../../rehearsal/tour/stage.ts";

/** A stage whose Slack has one message of the bot's, and the number of times that it was waited for. */
function stageWith(text: string) {
  const waits: boolean[] = [];
  const waitFor = async (fits: (message: { text: string }) => boolean) => {
    waits.push(fits({ text }));
    return { text };
  };
  const slack = { connect: () => undefined, send: async () => new Response(), waitFor };
  const world = { cloud: {}, platforms: { slack } };
  return { waits, stage: new Stage(world as never, { url: "http://service.invalid" } as never, {} as never) };
}

test("a tour waits for a reply from when it is asked for, however long the reader took before", async () => {
  const { stage, waits } = stageWith("“Are you broken?” No.");
  const { reply } = await stage.ask("Are you broken?");
  expect(waits).toEqual([]);
  expect(await reply()).toBe("“Are you broken?” No.");
});

test("a reader who goes on before an answer has ended is answered on both messages", async () => {
  const { stage, waits } = stageWith("I read 34 characters: “Is everything well?\nDid you crash?”");
  await stage.answered("Did you crash?");
  expect(waits).toEqual([true]);
});
