import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StewardError } from "../../../runtime/contract/errors.ts";
import type { Outcome, ReplayRecord } from "../../../runtime/contract/replay.ts";
import {
  compareOutcomes,
  replayGates,
  replayLines,
  replayPast,
} from "../../../stacks/commands/rollout/replay.ts";

const MESSAGE = { kind: "message", admitted: "config person" };

function recordOf(outcomes: readonly Outcome[], cost = 2): ReplayRecord {
  const left = { tooLarge: 0, unread: 0, changed: 0 };
  const events = outcomes.map((outcome) => ({ platform: "slack" as const, payload: {}, outcome }));
  return { form: 1, readings: {}, events, cost, left };
}

const outcome = fc.record<Outcome>(
  {
    kind: fc.constantFrom("message", "command", "context", "refused", "unpaired", "ignored", "error", "new"),
    admitted: fc.constantFrom("config person", "group"),
  },
  { requiredKeys: ["kind"] },
);

test("versions that agree have no change and no gate; each event that they read otherwise is counted", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(outcome, outcome), { maxLength: 30 }), (pairs) => {
      const [was, is] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)];
      const compared = compareOutcomes(recordOf(was), { outcomes: is, cost: 2 });
      const differ = pairs.filter(([a, b]) => a.kind !== b.kind || a.admitted !== b.admitted).length;
      expect(compared.changes.reduce((total, { events }) => total + events, 0)).toBe(differ);
      expect(replayGates({ compared }, false)).toHaveLength(differ === 0 ? 0 : 1);
      expect(replayGates({ compared }, true)).toEqual([]);
      for (const counts of [compared.running, compared.next])
        expect(Object.values(counts).reduce((total, count) => total + count, 0)).toBe(pairs.length);
    }),
  );
});

test("a comparison says how many events were understood, refused and taken for another kind", () => {
  const was = [MESSAGE, MESSAGE, MESSAGE, { kind: "command" }, { kind: "unpaired" }, { kind: "ignored" }];
  const is = [
    MESSAGE,
    { kind: "refused" },
    { kind: "refused" },
    MESSAGE,
    { kind: "unpaired" },
    { kind: "error" },
  ];
  const record = { ...recordOf(was), left: { tooLarge: 2, unread: 0, changed: 1 } };
  const compared = compareOutcomes(record, { outcomes: is, cost: 6.3 });
  expect(replayLines({ compared })).toEqual([
    "Replayed the most recent events, with their content redacted: 6. Nothing was sent, and no model was called.",
    "",
    "| | running version | new version |",
    "|---|---|---|",
    "| understood | 4 | 2 |",
    "| refused | 1 | 3 |",
    "| ignored | 1 | 0 |",
    "| unreadable | 0 | 1 |",
    "",
    "- interpreted differently: 4",
    "- slack: message (config person) becomes refused: 2",
    "- slack: command becomes message (config person): 1",
    "- slack: ignored becomes error: 1",
    "- reading an event takes 3.2 times as long as in the running version, which is slower",
    "- left out: 2 too large; 1 that redaction would change",
  ]);
  expect(replayGates({ compared }, false)).toEqual([
    "The new version interprets 4 of 6 replayed events differently. To accept it: --accept-replay",
  ]);
});

test("a version that answers for fewer events has not read the others", () => {
  const { changes, next } = compareOutcomes(recordOf([MESSAGE, MESSAGE]), { outcomes: [MESSAGE], cost: 2 });
  expect(changes).toEqual([{ platform: "slack", from: "message (config person)", to: "error", events: 1 }]);
  expect(next.understood).toBe(1);
});

describe("without a record there is neither a pass nor a gate", () => {
  test.each([
    [
      new StewardError("not_found"),
      "No events were replayed: the running version is older and cannot provide recorded events.",
    ],
    [
      new StewardError("replay_not_allowed"),
      /^No events were replayed: .*\(replay_not_allowed\)\. The next rollout/,
    ],
    [new StewardError("gateway_unavailable"), /^No events were replayed: .*\(gateway_unavailable\)\.$/],
  ])("%s", async (error, said) => {
    const result = await replayPast(async () => {
      throw error;
    });
    expect(result).toHaveProperty("skipped");
    expect(replayGates(result, false)).toEqual([]);
    expect(replayLines(result)).toEqual([expect.stringMatching(said)]);
  });

  test("a version without events has nothing to compare", async () => {
    const result = await replayPast(async () => recordOf([], 0));
    expect(replayGates(result, false)).toEqual([]);
    expect(replayLines(result).join("\n")).toMatch(/content redacted: 0\.[^]*interpreted differently: 0$/);
  });
});

test("code that cannot replay a record stops the update until somebody accepts it", () => {
  const result = { failed: "SyntaxError" };
  expect(replayLines(result)).toEqual(["The new version could not replay the events: SyntaxError"]);
  expect(replayGates(result, false)).toEqual([
    "The new version could not replay past events. To accept it: --accept-replay",
  ]);
  expect(replayGates(result, true)).toEqual([]);
});
