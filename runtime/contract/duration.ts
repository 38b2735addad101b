const UNITS = { h: 3_600_000, m: 60_000, s: 1_000 } as const;
const DURATION = /^(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,4})s)?$/;

/** Maximum delay of a timer in milliseconds; Node fires a longer one immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Describes the format of `SANDBOX_SLEEP_AFTER` in messages. */
export const DURATION_HELP = "`never` or a duration such as `30s`, `10m`, `1h` or `1h30m`";

/**
 * Parses `never`, or a duration of hours, minutes and seconds in this order. Refuses bare numbers, fractions, spaces
 * and unknown units, because a mistyped duration could cost money.
 *
 * @returns milliseconds; `Infinity` for `never`; `undefined` if zero or invalid
 */
export function parseDuration(text: string): number | undefined {
  if (text === "never") return Number.POSITIVE_INFINITY;
  const match = DURATION.exec(text);
  if (!match || text === "") return undefined;
  const [, hours = "0", minutes = "0", seconds = "0"] = match;
  const total = Number(hours) * UNITS.h + Number(minutes) * UNITS.m + Number(seconds) * UNITS.s;
  return total > 0 ? total : undefined;
}
