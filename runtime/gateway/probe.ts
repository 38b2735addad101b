import { isRecord } from "../shared/json.ts";
import { backoffMs } from "../shared/backoff.ts";
import type { Environment } from "../contract/environment.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import type { Redactor } from "../shared/redact.ts";
import type { Components } from "./components.ts";
import { addressOf, type ModelAddress } from "./models/create.ts";
import { NO_KEY } from "./models/providers.ts";
import { errorKinds, messageOf, providerFailure } from "./models/provider-errors.ts";
import type { ModelRelay } from "./models/relay.ts";

const TIMEOUT_MS = 15_000;
const EVERY_MS = 600_000;
/**
 * Milliseconds between checks after a failure. The first waits are short, because the network may not have been
 * ready.
 */
const AFTER_FAILURE = { firstMs: 10_000, longestMs: EVERY_MS };

export interface ProbeOptions {
  parts(): Pick<Components, "config" | "models" | "channels">;
  environment: Environment;
  redact: Redactor;
  fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

type Finding =
  | { state: "ready" }
  | { state: "unknown" }
  | { state: "failing"; code: ErrorCode; detail: string };

/**
 * Checks whether providers and platforms accept the configured keys, models and tokens. Repeats every ten minutes, or
 * sooner after a failure. Repeated checks skip models that work. Uses no model tokens.
 */
export class Probe {
  readonly #options: ProbeOptions;
  readonly #stop = new AbortController();
  /**
   * Models at the previous check. If a config change has since replaced the models, the next check covers all models.
   * Otherwise, it covers only failing models.
   */
  #known: ModelRelay | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Also called after a config change. */
  start(): void {
    this.#failures = 0;
    void this.#round();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  async #round(): Promise<void> {
    const { models, channels } = this.#options.parts();
    await Promise.all([this.#askModels(), channels.probe()]);
    if (this.#stop.signal.aborted) return;
    const isFailing = [...models.health(), ...channels.health()].some(({ state }) => state === "failing");
    this.#failures = isFailing ? this.#failures + 1 : 0;
    const wait = isFailing ? backoffMs(AFTER_FAILURE, this.#failures) : EVERY_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#round(), wait).unref();
  }

  async #askModels(): Promise<void> {
    const { parts, environment, clock, log } = this.#options;
    const { config, models } = parts();
    const isNew = models !== this.#known;
    this.#known = models;
    const due = models.health().filter(({ state }) => isNew || state === "failing");
    await Promise.all(
      due.map(async ({ id: model }) => {
        const askedAt = clock();
        const finding = await this.#ask(model, addressOf(model, config, environment));
        if (this.#stop.signal.aborted) return;
        if (finding.state === "failing") {
          models.probed(model, finding, askedAt);
          log.warn("model probed", { model, ...finding });
        } else {
          if (finding.state === "ready") models.probed(model, undefined, askedAt);
          log.info("model probed", { model, state: finding.state });
        }
      }),
    );
  }

  async #ask(reference: string, address: ModelAddress): Promise<Finding> {
    const { redact, clock } = this.#options;
    const reading = { reference, now: clock(), redact };
    try {
      return await (address.provider === "anthropic"
        ? this.#askAnthropic(address, reading)
        : this.#askCompatible(address, reading));
    } catch (error) {
      const message = error instanceof Error ? error.message : "no answer";
      const { code, message: detail } = providerFailure({ message, kinds: [] }, reading);
      return { state: "failing", code, detail };
    }
  }

  /** https://docs.claude.com/en/api/models accepts aliases, too. */
  async #askAnthropic({ catalog, apiKey }: ModelAddress, reading: Reading): Promise<Finding> {
    if (apiKey === "") {
      return { state: "failing", code: "model_key_invalid", detail: `${reading.reference}: ${NO_KEY}` };
    }
    const response = await this.#get(catalog);
    if (response.ok) return { state: "ready" };
    const body = await bodyOf(response);
    // Without `not_found_error`, a 404 may come from a proxy that lacks this route.
    if (response.status === 404 && !errorKinds(body).includes("not_found_error")) return { state: "unknown" };
    return failing(response, body, reading);
  }

  /** https://platform.openai.com/docs/api-reference/models/list; some servers lack it. */
  async #askCompatible({ modelId, catalog }: ModelAddress, reading: Reading): Promise<Finding> {
    const response = await this.#get(catalog);
    const body = await bodyOf(response);
    if (response.status === 404 || response.status === 405) return { state: "unknown" };
    if (!response.ok) return failing(response, body, reading);
    const ids = listedIds(body);
    if (ids === undefined) return { state: "unknown" };
    if (ids.includes(modelId)) return { state: "ready" };
    const detail = `${reading.reference}: the provider's list of models does not include it.`;
    return { state: "failing", code: "model_not_available", detail };
  }

  /** Requests the catalog without following redirects, which would send the key to another server. */
  #get({ url, headers }: ModelAddress["catalog"]): Promise<Response> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    return this.#options.fetch(url, { headers, redirect: "manual", signal });
  }
}

type Reading = Parameters<typeof providerFailure>[1];

function failing(response: Response, body: unknown, reading: Reading): Finding {
  const { code, message: detail } = providerFailure(
    {
      message: messageOf(body) ?? `HTTP ${response.status}`,
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      kinds: errorKinds(body),
    },
    reading,
  );
  return { state: "failing", code, detail };
}

async function bodyOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}

function listedIds(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["data"])) return undefined;
  return body["data"].map((model: unknown) => (isRecord(model) ? model["id"] : undefined));
}
