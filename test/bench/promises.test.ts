import { expect, test } from "vitest";
import { figure, type Figure } from "../support/measure.ts";
import { missed, promises, table } from "./promises.ts";

const slow = figure("slow", "ms", [3, 1, 2], 1.5);
const quick = figure("quick", "ms", [1, 1, 1], 1);
const plain = figure("plain", "MB", [7]);
const few: Figure = { ...figure("few", "count", [4]), atLeast: 5 };

test("a promise is missed by a median beyond its bound, and by no single run", () => {
  expect(missed([slow, quick, plain, few])).toEqual([slow, few]);
  expect(missed([figure("spread", "ms", [1, 2, 9], 2), plain])).toEqual([]);
});

test("each promise has its line, and figures without one have none", () => {
  expect(promises([slow, quick, plain, few]).split("\n")).toEqual([
    "MISSED 2 ms, promised at most 1.5: slow",
    "kept   1 ms, promised at most 1: quick",
    "MISSED 4 count, promised at least 5: few",
    "3 promises, 2 missed",
    "",
  ]);
});

test("the table has every figure, with its promise and its spread", () => {
  const rows = table([slow, quick, plain, few]).split("\n");
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ["2 ms", "ABOVE 1.5", "1 to 3", "slow"],
    ["1 ms", "within 1", "1 to 1", "quick"],
    ["7 MB", "7 to 7", "plain"],
    ["4 count", "BELOW 5", "4 to 4", "few"],
    [""],
  ]);
});
