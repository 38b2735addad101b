import type { Handler } from "hono";
import { exposition, EXPOSITION_TYPE } from "./exposition.ts";
import { readMetrics } from "./metrics.ts";
import type { Ledger, Sandbox } from "./ports.ts";

/** `GET /_admin/api/metrics`: every figure as JSON. */
export function metricsJson(ledger: Ledger, sandbox: Sandbox): Handler {
  return async function handleMetricsJson(context) {
    return context.json(await readMetrics(ledger, sandbox));
  };
}

/** `GET /metrics`: the same figures for Prometheus. */
export function metricsText(ledger: Ledger, sandbox: Sandbox): Handler {
  return async function handleMetricsText(context) {
    const text = exposition(await readMetrics(ledger, sandbox));
    return context.body(text, 200, { "content-type": EXPOSITION_TYPE });
  };
}
