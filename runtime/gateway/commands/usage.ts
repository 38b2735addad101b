import type { ModelUsage } from "../../contract/control.ts";
import { DAY_MS, dayOf } from "../models/usage.ts";

const WEEK_DAYS = 7;

/** What /usage tells: tokens by model, of today and of seven days up to today (UTC). */
export function usageText(usage: readonly ModelUsage[], now: number): string {
  const today = dayOf(now);
  const first = dayOf(now - (WEEK_DAYS - 1) * DAY_MS);
  const week = usage.filter(({ day }) => day >= first && day <= today);
  return [
    ...section(
      "Today",
      week.filter(({ day }) => day === today),
    ),
    ...section("Seven days", week),
  ].join("\n");
}

function section(title: string, usage: readonly ModelUsage[]): string[] {
  if (usage.length === 0) return [`${title}: nothing`];
  const models = [...new Set(usage.map(({ model }) => model))];
  const lines = models.map((model) => {
    const own = usage.filter((one) => one.model === model);
    const sum = (read: (one: ModelUsage) => number): string =>
      own.reduce((total, one) => total + read(one), 0).toLocaleString("en-US");
    const requests = sum((one) => one.requests);
    return `- ${model}: ${sum((one) => one.inputTokens)} tokens in, ${sum((one) => one.outputTokens)} out, ${requests} ${requests === "1" ? "request" : "requests"}`;
  });
  return [`${title}:`, ...lines];
}
