import { expect, test } from "vitest";
import { bestSummary, mergeFile, mergeTranscripts } from "../../../runtime/backups/archive/merge.ts";

/** Messages as `key@time`, at positions from `first` on. */
const transcript = (text: string, first = 1) =>
  text
    .split(" ")
    .filter(Boolean)
    .map((one, index) => {
      const [key = "", at = "0"] = one.split("@");
      return { key, at: Number(at), seq: first + index };
    });
const ORIGIN = { seq: 2, at: 2 };

test("what a chat has said since comes at the end", () => {
  const merged = mergeTranscripts(transcript("a@1 b@2"), transcript("a@1 b@2 c@3 d@4"), ORIGIN);
  expect(merged).toEqual({
    deleted: [],
    appended: [
      { from: "theirs", seq: 3 },
      { from: "theirs", seq: 4 },
    ],
    oursIsNewer: false,
    theirsIsNewer: true,
  });
});

test("messages of both sides are ordered by time, and each side keeps its own order", () => {
  const ours = transcript("a@1 b@2 x@4 y@4 z@9");
  const { appended, oursIsNewer, theirsIsNewer } = mergeTranscripts(
    ours,
    transcript("a@1 b@2 c@3 d@4 e@7"),
    ORIGIN,
  );
  expect(appended).toEqual([
    { from: "theirs", seq: 3 },
    { from: "ours", seq: 3 },
    { from: "ours", seq: 4 },
    { from: "theirs", seq: 4 },
    { from: "theirs", seq: 5 },
    { from: "ours", seq: 5 },
  ]);
  expect([oursIsNewer, theirsIsNewer]).toEqual([true, true]);
});

test("a second merge of the same copy changes nothing", () => {
  const both = transcript("a@1 b@2 c@3 x@4");
  expect(mergeTranscripts(both, transcript("a@1 b@2 c@3"), ORIGIN)).toEqual({
    deleted: [],
    appended: [],
    oursIsNewer: true,
    theirsIsNewer: false,
  });
});

test("a message that was deleted there is deleted; one that was never there stays", () => {
  expect(mergeTranscripts(transcript("a@1 b@2 x@5"), transcript("b@2"), ORIGIN)).toMatchObject({
    deleted: [1],
    oursIsNewer: true,
  });
  // A position that was given again belongs to a later message.
  expect(mergeTranscripts(transcript("a@1 x@5"), transcript("a@1"), ORIGIN).deleted).toEqual([]);
  expect(mergeTranscripts(transcript("a@1 b@2"), [], undefined).deleted).toEqual([]);
});

test("a chat that only one side knows is taken whole", () => {
  expect(mergeTranscripts([], transcript("a@1 b@2"), undefined).appended).toHaveLength(2);
  expect(mergeTranscripts(transcript("a@1"), [], undefined).appended).toEqual([]);
});

test("of two summaries the one that reaches furthest counts, unless it would hide a message", () => {
  const [short, long] = [
    { text: "short", to: 2, covers: new Set([1, 2]) },
    { text: "long", to: 5, covers: new Set([1, 2, 3, 5]) },
  ];
  expect(bestSummary([short, long], [1, 2, 3, 5, 6])?.text).toBe("long");
  expect(bestSummary([short, long], [1, 2, 3, 4, 5])?.text).toBe("short");
  expect(bestSummary([undefined, long], [1, 2, 3, 4, 5])).toBeUndefined();
});

test.each([
  ["is unchanged on both sides", "a", "a", "a", "ours"],
  ["was changed there", "a", "b", "a", "theirs"],
  ["was changed here", "b", "a", "a", "ours"],
  ["was changed on both sides", "b", "c", "a", "both"],
  ["was changed on both sides alike", "b", "b", "a", "ours"],
  ["was made there", undefined, "a", undefined, "theirs"],
  ["was made on both sides", "a", "b", undefined, "both"],
  ["was removed here", undefined, "a", "a", "ours"],
  ["was removed here and changed there", undefined, "b", "a", "theirs"],
] as const)("a file that %s", (_what, ours, theirs, origin, decision) => {
  expect(mergeFile(ours, theirs, origin)).toBe(decision);
});
