import semver from "semver";
import * as z from "zod";
import { type ChangelogSection, sectionsOf, UNRELEASED } from "../../../infra/shell/changelog.ts";

export interface PackageVersions {
  /** Version of the running service; `undefined` if unknown. */
  deployed: string | undefined;
  installed: string;
  /** Version to upgrade to: the requested one, or the registry's newest. */
  target: string;
}

/**
 * Kind of step from the current version to the target version. The current version is the deployed one or, if that is
 * unknown, the installed one.
 */
export type UpgradeStep = "none" | "patch" | "minor" | "major" | "downgrade";

/**
 * Returns the kind of step. A prerelease counts as major, so that it is never deployed unattended. A target older than
 * the deployed or installed version is a downgrade.
 */
export function upgradeStep({ deployed, installed, target }: PackageVersions): UpgradeStep {
  const from = deployed ?? installed;
  if (semver.lt(target, from) || semver.lt(target, installed)) return "downgrade";
  if (semver.eq(target, from)) return "none";
  const step = semver.diff(from, target);
  return step === "patch" || step === "minor" ? step : "major";
}

/** In characters. */
const LONGEST_CHANGELOG = 1 << 20;

/** Returns the changelog's sections after version `after` up to and including `upTo`, newest first. */
export function sectionsBetween(changelog: string, after: string, upTo: string): ChangelogSection[] {
  return sectionsOf(changelog.slice(0, LONGEST_CHANGELOG)).filter(
    ({ name }) =>
      name !== UNRELEASED && semver.valid(name) !== null && semver.gt(name, after) && semver.lte(name, upTo),
  );
}

export function changesText(changes: readonly ChangelogSection[]): string {
  return changes
    .map(({ name, date, text }) => `\n## ${name}${date === undefined ? "" : ` - ${date}`}\n\n${text}\n`)
    .join("");
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const MINUTE_MS = 60_000;
/** 1970-01-04T00:00Z, a Sunday. */
const A_SUNDAY_MS = 3 * DAY_MINUTES * MINUTE_MS;

/** A weekly time span, in minutes after Sunday, 00:00 UTC. */
interface Span {
  start: number;
  minutes: number;
}

export type UpgradeWindow = readonly Span[];

const WINDOW = /^(?:([A-Z][a-z]{2}(?:,[A-Z][a-z]{2}){0,6}) )?(\d{2}):(\d{2})-(\d{2}):(\d{2}) UTC$/;

/**
 * Parses a window such as `Sun 02:00-05:00 UTC`, `Sat,Sun 22:00-04:00 UTC` or, for every day, `02:00-05:00 UTC`. If the
 * end is not later than the start, it is on the next day.
 *
 * @returns `undefined` if the text is invalid.
 */
export function readWindow(text: string): UpgradeWindow | undefined {
  const [, days, ...clock] = WINDOW.exec(text) ?? [];
  const [startHour = NaN, startMinute = NaN, endHour = NaN, endMinute = NaN] = clock.map(Number);
  if (!(startHour < 24 && startMinute < 60 && endHour <= 24 && endMinute < 60)) return undefined;
  const numbers = days === undefined ? [...DAYS.keys()] : days.split(",").map((day) => DAYS.indexOf(day));
  if (numbers.includes(-1)) return undefined;
  const start = startHour * 60 + startMinute;
  const end = endHour * 60 + endMinute;
  const minutes = end > start ? end - start : end - start + DAY_MINUTES;
  return numbers.map((day) => ({ start: day * DAY_MINUTES + start, minutes }));
}

/** Returns `undefined` if the window is open. */
export function nextOpening(window: UpgradeWindow, now: Date): Date | undefined {
  const minute = (now.getTime() - A_SUNDAY_MS) / MINUTE_MS;
  // Compute waits from each span's start and length, because the span's end may be in the next week.
  const waits = window.map(({ start, minutes }) => {
    const since = (((minute - start) % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;
    return since < minutes ? 0 : WEEK_MINUTES - since;
  });
  const least = Math.min(...waits);
  return least === 0 ? undefined : new Date(now.getTime() + least * MINUTE_MS);
}

/** `steward.upgrade` of the project's package.json. */
export interface UnattendedConsent {
  window: UpgradeWindow | undefined;
}

const consentSchema = z.object({
  steward: z.object({
    upgrade: z.strictObject({
      unattended: z.literal("patch"),
      window: z
        .string()
        .transform((text, context) => {
          const window = readWindow(text);
          if (window === undefined)
            context.addIssue(`${text} is not a valid window; write it like Sun 02:00-05:00 UTC`);
          return window;
        })
        .optional(),
    }),
  }),
});

/** Returns a package.json's consent to unattended upgrades, or the reason why there is none. */
export function readConsent(manifest: unknown): UnattendedConsent | { refused: string } {
  const { success, data, error } = consentSchema.safeParse(manifest);
  if (success) return { window: data.steward.upgrade.window };
  const wrong = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return { refused: wrong.join("; ") };
}

export type UnattendedDecision = "go" | { waitsUntil: Date } | { onlyReported: UpgradeStep };

/**
 * Decides whether an unattended upgrade may run. Outside the window, returns when it opens next. Otherwise, returns
 * `go` for a patch upgrade and `onlyReported` for any other.
 */
export function decideUnattended(
  step: UpgradeStep,
  { window }: UnattendedConsent,
  now: Date,
): UnattendedDecision {
  const opening = window && nextOpening(window, now);
  if (opening !== undefined) return { waitsUntil: opening };
  return step === "patch" ? "go" : { onlyReported: step };
}
