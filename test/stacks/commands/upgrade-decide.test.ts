import { describe, expect, test } from "vitest";
import {
  decideUnattended,
  nextOpening,
  readConsent,
  readWindow,
  sectionsBetween,
  upgradeStep,
  type UpgradeWindow,
} from "../../../stacks/commands/upgrade/decide.ts";

const FRIDAY = new Date("2026-11-27T12:00:00Z");
const windowOf = (text: string): UpgradeWindow => readWindow(text) ?? [];

test.each([
  ["0.1.0", "0.1.0", "0.1.1", "patch"],
  ["0.1.0", "0.1.0", "0.2.0", "minor"],
  ["0.9.9", "0.9.9", "1.0.0", "major"],
  ["0.1.0", "0.1.0", "0.1.1-rc.1", "major"],
  ["0.1.0", "0.1.0", "0.1.0", "none"],
  // Installed by hand, and not deployed yet.
  ["0.1.0", "0.1.2", "0.1.2", "patch"],
  // Somebody else has deployed a newer one.
  ["0.3.0", "0.1.0", "0.2.0", "downgrade"],
  ["0.1.0", "0.2.0", "0.1.1", "downgrade"],
  [undefined, "0.1.0", "0.1.1", "patch"],
  [undefined, "0.1.1", "0.1.0", "downgrade"],
])("from %s with %s installed to %s is %s", (deployed, installed, target, step) => {
  expect(upgradeStep({ deployed, installed, target })).toBe(step);
});

test("the changes are those of the versions between, newest first", () => {
  const changelog = [
    "# Changelog",
    "## [Unreleased]\n\n- not yet",
    "## [0.3.0] - 2026-12-03\n\n- three",
    "## [0.2.1] - 2026-12-02\n\n### Fixed\n- two, mended",
    "## [0.2.0] - 2026-12-01\n\n- two",
    "## [0.1.0] - 2026-11-27\n\n- one",
  ].join("\n\n");
  expect(sectionsBetween(changelog, "0.1.0", "0.2.1")).toEqual([
    { name: "0.2.1", date: "2026-12-02", text: "### Fixed\n- two, mended" },
    { name: "0.2.0", date: "2026-12-01", text: "- two" },
  ]);
  expect(sectionsBetween("no changelog", "0.1.0", "0.2.0")).toEqual([]);
});

describe("a window", () => {
  test.each([
    ["Sun 02:00-05:00 UTC", "2026-11-29T02:00:00Z"],
    ["Fri 02:00-05:00 UTC", "2026-12-04T02:00:00Z"],
    ["Tue,Sat 23:30-01:00 UTC", "2026-11-28T23:30:00Z"],
    ["11:00-12:00 UTC", "2026-11-28T11:00:00Z"],
    ["12:01-12:02 UTC", "2026-11-27T12:01:00Z"],
  ])("%s opens next at %s", (text, opening) => {
    expect(nextOpening(windowOf(text), FRIDAY)).toEqual(new Date(opening));
  });

  test.each([
    ["Fri 12:00-12:01 UTC", "2026-11-27T12:00:59Z"],
    ["Sat 22:00-04:00 UTC", "2026-11-29T03:59:00Z"],
    ["00:00-24:00 UTC", "2026-11-27T12:00:00Z"],
    ["12:00-12:00 UTC", "2026-11-28T11:59:00Z"],
  ])("%s is open at %s", (text, now) => {
    expect(nextOpening(windowOf(text), new Date(now))).toBeUndefined();
  });

  test.each([
    "",
    "Sun",
    "Son 02:00-05:00 UTC",
    "Sun 2:00-5:00 UTC",
    "02:00-05:00",
    "25:00-26:00 UTC",
    "02:61-03:00 UTC",
  ])("%j is none", (text) => {
    expect(readWindow(text)).toBeUndefined();
  });
});

describe("unattended", () => {
  const manifest = (upgrade: unknown) => ({ name: "bot", steward: { upgrade } });

  test("needs a consent in the project's package.json, which is read strictly", () => {
    expect(readConsent({ name: "bot" })).toEqual({ refused: expect.stringContaining("steward") });
    expect(readConsent(manifest({ unattended: "minor" }))).toEqual({
      refused: expect.stringContaining("steward.upgrade.unattended"),
    });
    expect(readConsent(manifest({ unattended: "patch", window: "sometimes" }))).toEqual({
      refused: "steward.upgrade.window: sometimes is not a valid window; write it like Sun 02:00-05:00 UTC",
    });
    expect(readConsent(manifest({ unattended: "patch", windw: "02:00-05:00 UTC" }))).toHaveProperty(
      "refused",
    );
    expect(readConsent(manifest({ unattended: "patch" }))).toEqual({ window: undefined });
  });

  test("deploys patch versions within the window alone", () => {
    const consent = { window: readWindow("Sun 02:00-05:00 UTC") };
    const sunday = new Date("2026-11-29T04:00:00Z");
    expect(decideUnattended("patch", consent, sunday)).toBe("go");
    expect(decideUnattended("patch", { window: undefined }, FRIDAY)).toBe("go");
    expect(decideUnattended("patch", consent, FRIDAY)).toEqual({
      waitsUntil: new Date("2026-11-29T02:00:00Z"),
    });
    expect(decideUnattended("minor", consent, FRIDAY)).toHaveProperty("waitsUntil");
    expect(decideUnattended("minor", consent, sunday)).toEqual({ onlyReported: "minor" });
    expect(decideUnattended("major", consent, sunday)).toEqual({ onlyReported: "major" });
  });
});
