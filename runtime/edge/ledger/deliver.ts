import { retryAfterMs } from "../../shared/retry-after.ts";
import { GATEWAY_ROUTES } from "../../contract/control.ts";
import { type Delivery, type DeliveryOutcome } from "../../contract/delivery.ts";
import type { Problem } from "../../contract/problem.ts";
import type { Sandbox } from "../ports.ts";
import type { AttemptResult } from "./dispatcher.ts";

/** One delivery to the gateway of a running sandbox: what its answer means for the ledger. */
export async function deliverTo(
  sandbox: Pick<Sandbox, "request">,
  delivery: Delivery,
  now: number,
): Promise<AttemptResult> {
  const response = await sandbox.request("gateway", {
    method: "POST",
    path: GATEWAY_ROUTES.deliveries,
    body: JSON.stringify(delivery),
  });
  if (response.ok) {
    const { outcome, note = outcome, group } = (await response.json()) as DeliveryOutcome;
    const state = outcome === "repeated" ? "answered" : outcome;
    return { kind: "settled", state, note, group };
  }
  const { code = "", detail = "" } = await readProblem(response);
  const note = `${response.status} ${code} ${detail}`.trim();
  if (response.status === 400 || response.status === 413) return { kind: "refused", note };
  const afterMs = retryAfterMs(response.headers.get("retry-after"), now);
  const absent = response.status === 503 && code === "gateway_unavailable";
  return { kind: "retry", note, ...(afterMs !== undefined && { afterMs }), ...(absent && { absent }) };
}

async function readProblem(response: Response): Promise<Partial<Problem>> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === "object" && body !== null ? body : {};
}
