/**
 * The workerd behaviour that the Worker is built and tested for:
 * https://developers.cloudflare.com/workers/configuration/compatibility-dates/
 */
export const COMPATIBILITY = { date: "2026-11-01", flags: ["nodejs_compat"] } as const;
