import { expect, test } from "vitest";
import { watchChats } from "../../stacks/commands/rollout/chats.ts";
import type { Renewal } from "../../runtime/contract/tenant.ts";

/** Watches a service that answers so, one answer for each look, the last one for all that follow. */
async function watched(...answers: (Renewal | null | Error)[]) {
  let waited = 0;
  let looks = 0;
  const said = await watchChats({
    renewal: async () => {
      const answer = answers[Math.min(looks, answers.length - 1)] ?? null;
      looks += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    pause: async (ms) => void (waited += ms),
  });
  return { said, waited, looks };
}

const at = (begun: number, answering: number, ...failing: string[]): Renewal => ({
  begun,
  answering,
  failing,
});

test("waits until nobody has asked for a while, and says how many answer", async () => {
  const { said, looks } = await watched(at(1, 0), at(1, 1), at(3, 1), new Error("502"), at(3, 3));
  expect(said).toBe("The containers of 3 chats now run the new version.");
  expect(looks).toBe(7);
});

test("has nothing to say where no chat's container runs, or one sandbox serves every chat", async () => {
  expect(await watched(at(0, 0))).toEqual({ said: undefined, waited: 10_000, looks: 3 });
  expect(await watched(null)).toEqual({ said: undefined, waited: 0, looks: 1 });
});

test("ends after three minutes, and says what is not done", async () => {
  const { said, waited } = await watched(at(5, 4));
  expect(said).toBe("Containers with the new version: 4; starting: 1. The rest follow later.");
  expect(waited).toBeLessThan(180_000);
});

test("fails with the first chat that does not answer", async () => {
  await expect(watched(at(3, 1), at(3, 2, "slack-C1"))).rejects.toMatchObject({ code: "rollout_chat_fails" });
});
