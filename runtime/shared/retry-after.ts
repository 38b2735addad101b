/**
 * Parses a `Retry-After` value: seconds or a date (RFC 9110, section 10.2.3). Returns milliseconds from `now`;
 * `undefined` for an invalid value.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined;
  if (/^\d+(\.\d+)?$/.test(header)) return Math.ceil(Number(header) * 1_000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
