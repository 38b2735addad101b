import type { Handler } from "hono";
import type { FirstWordReport, GatewayStatus, SandboxState, SandboxStatus } from "../contract/control.ts";
import { VERSION } from "../contract/names.ts";
import { gatewayDetails } from "./debug-routes.ts";
import type { Ledger, LedgerCounts, Sandbox } from "./ports.ts";
import type { Tenants, TenantTotals } from "./tenants/ports.ts";

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const STATES: readonly SandboxState[] = ["stopped", "starting", "ready", "crash-looping"];

const OUTCOMES = ["answered", "failed", "refused"] as const;

interface MetricsOptions {
  ledger: Ledger;
  sandbox: Sandbox;
  /** Set if each chat has a separate sandbox. */
  tenants: Tenants | undefined;
}

/** `GET /_admin/api/metrics`: every figure as JSON. */
export function metricsJson(options: MetricsOptions): Handler {
  return async function handleMetricsJson(context) {
    return context.json(await readMetrics(options));
  };
}

export function metricsText(options: MetricsOptions): Handler {
  return async function handleMetricsText(context) {
    const text = exposition(await readMetrics(options));
    return context.body(text, 200, { "content-type": EXPOSITION_TYPE });
  };
}

interface Metrics {
  version: string;
  ledger: LedgerCounts;
  chats?: TenantTotals;
  sandbox: Pick<
    SandboxStatus,
    "state" | "since" | "restarts" | "coldStartMs" | "broker" | "volume" | "silent"
  >;
  /** From the gateway's own status; absent while the gateway is not ready. */
  gateway?: Pick<GatewayStatus, "counts" | "schedules" | "usage" | "firstWords" | "findings"> & {
    channels: { platform: string; state: string }[];
    models: { id: string; state: string }[];
  };
}

/**
 * Reads all metrics. Omits the gateway's metrics if it returns no valid status. Does not wake a container or count as
 * activity.
 */
async function readMetrics({ ledger, sandbox, tenants }: MetricsOptions): Promise<Metrics> {
  const [counts, { state, since, restarts, coldStartMs, broker, volume, silent }, details, chats] =
    await Promise.all([
      ledger.counts(),
      sandbox.status(),
      gatewayDetails(sandbox).catch(() => undefined),
      tenants?.totals(),
    ]);
  return {
    version: VERSION,
    ledger: counts,
    ...(chats && { chats }),
    sandbox: {
      state,
      since,
      restarts,
      ...(coldStartMs !== undefined && { coldStartMs }),
      ...(broker && { broker }),
      ...(volume && { volume }),
      ...(silent && { silent }),
    },
    ...(details && { gateway: gatewayMetrics(details) }),
  };
}

function gatewayMetrics(details: GatewayStatus): NonNullable<Metrics["gateway"]> {
  const { counts, schedules, usage, firstWords, findings, channels, models } = details;
  return {
    counts,
    schedules,
    usage,
    ...(firstWords && { firstWords }),
    ...(findings && { findings }),
    channels: channels.map(({ platform, state }) => ({ platform, state })),
    models: models.map(({ id, state }) => ({ id, state })),
  };
}

type Labels = Readonly<Record<string, string>>;
/** `suffix` names a part of a histogram. */
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** Prometheus metric; omitted from the output if it has no samples. */
interface Family {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

/** Formats the metrics for Prometheus, in base units such as seconds. */
function exposition(metrics: Metrics): string {
  return [...edgeFamilies(metrics), ...gatewayFamilies(metrics.gateway)]
    .filter(({ samples }) => samples.length > 0)
    .map(formatFamily)
    .join("");
}

function edgeFamilies({ version, ledger, sandbox, chats }: Metrics): Family[] {
  const { state, restarts, coldStartMs, broker, volume, silent } = sandbox;
  return [
    gauge("build_info", "The version of the edge.", [[{ version }, 1]]),
    gauge(
      "ledger_entries",
      "Events in the ledger by state. Settled events are deleted after seven days.",
      Object.entries(ledger).map(([name, count]) => [{ state: name }, count]),
    ),
    gauge(
      "chats",
      "Chats with a separate sandbox: all, with a running container, and failing.",
      chats === undefined
        ? []
        : (["chats", "running", "failing"] as const).map((name) => [
            { state: name === "chats" ? "all" : name },
            chats[name],
          ]),
    ),
    gauge(
      "chat_ledger_entries",
      "Events in all chats' ledgers by state, from their last reports.",
      Object.entries(chats?.counts ?? {}).map(([name, count]) => [{ state: name }, count]),
    ),
    gauge(
      "sandbox_state",
      "1 for the sandbox's current state.",
      STATES.map((name) => [{ state: name }, name === state ? 1 : 0]),
    ),
    gauge("volume_writable", "1 while the data directory and the ledger can be written.", [
      [{}, volume === undefined ? 1 : 0],
    ]),
    gauge("gateway_silent", "1 while the gateway runs and its port does not answer.", [
      [{}, silent === undefined ? 0 : 1],
    ]),
    counter("gateway_restarts_total", "Restarts after a crash of the gateway or of its container.", [
      [{}, restarts],
    ]),
    counter(
      "broker_requests_total",
      "Requests of the gateway to services, by the broker's outcome.",
      OUTCOMES.flatMap((outcome): Sample[] => (broker ? [[{ outcome }, broker[outcome]]] : [])),
    ),
    counter(
      "broker_operations_total",
      "Service operations requested by the gateway, by the broker's outcome.",
      Object.entries(broker?.operations ?? {}).flatMap(([operation, counts]) =>
        OUTCOMES.map((outcome): Sample => [{ operation, outcome }, counts[outcome]]),
      ),
    ),
    gauge(
      "cold_start_seconds",
      "Time from the container's last start to the gateway's first response.",
      coldStartMs === undefined ? [] : [[{}, coldStartMs / 1_000]],
    ),
  ];
}

function gatewayFamilies(gateway: Metrics["gateway"]): Family[] {
  if (gateway === undefined) return [];
  const { counts, schedules, usage, firstWords, findings = [], channels, models } = gateway;
  const used = (read: (one: (typeof usage)[number]) => number, labels: Labels = {}): Sample[] =>
    [...new Set(usage.map(({ model }) => model))].map((model) => [
      { model, ...labels },
      usage.filter((one) => one.model === model).reduce((sum, one) => sum + read(one), 0),
    ]);
  const ready = (state: string): number => (state === "ready" ? 1 : 0);
  return [
    counter("answers_total", "Model answers in all channels, the web chat and schedules.", [
      [{}, counts.answered],
    ]),
    gauge("answers_active", "Events that are being answered.", [[{}, counts.active]]),
    histogram(
      "first_word_seconds",
      "Time from a message's arrival to the first word of its answer, or to a notice instead.",
      firstWords,
    ),
    gauge("conversations", "Stored conversations.", [[{}, counts.conversations]]),
    gauge("messages", "Stored messages.", [[{}, counts.messages]]),
    gauge("schedules", "Schedules.", [[{}, schedules.count]]),
    gauge("schedules_missed", "Runs missed in the last seven days.", [[{}, schedules.missed]]),
    gauge("schedules_failed", "Runs that failed in the last seven days.", [[{}, schedules.failed ?? 0]]),
    gauge(
      "channel_ready",
      "1 while the chat platform works.",
      channels.map(({ platform, state }) => [{ platform }, ready(state)]),
    ),
    gauge(
      "model_ready",
      "1 while the model answers.",
      models.map(({ id, state }) => [{ model: id }, ready(state)]),
    ),
    counter(
      "not_understood_total",
      "Parts of messages, tools, streams and answers that this version does not support.",
      [...new Set(findings.map(({ area }) => area))].map((area) => [
        { area },
        findings.filter((one) => one.area === area).reduce((sum, { count }) => sum + count, 0),
      ]),
    ),
    gauge(
      "model_requests_7d",
      "Requests on the last seven active days.",
      used((one) => one.requests),
    ),
    gauge("model_tokens_7d", "Tokens on the last seven active days.", [
      ...used((one) => one.inputTokens, { direction: "input" }),
      ...used((one) => one.outputTokens, { direction: "output" }),
    ]),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `steward_${name}`, type: "gauge", help, samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `steward_${name}`, type: "counter", help, samples };
}

function histogram(name: string, help: string, report: FirstWordReport | undefined): Family {
  const samples: Sample[] =
    report === undefined
      ? []
      : [
          ...report.buckets.map(({ le, count }): Sample => [{ le }, count, "_bucket"]),
          [{}, report.seconds, "_sum"],
          [{}, report.count, "_count"],
        ];
  return { name: `steward_${name}`, type: "histogram", help, samples };
}

function formatFamily({ name, type, help, samples }: Family): string {
  const lines = samples.map(
    ([labels, value, suffix = ""]) => `${name}${suffix}${formatLabels(labels)} ${value}`,
  );
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
