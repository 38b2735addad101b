import type { Environment } from "../../contract/environment.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import type { Redactor } from "../../contract/redact.ts";
import type { Components } from "../components.ts";
import { addressOf, type ModelAddress, NO_KEY } from "./create.ts";
import { isRecord, errorKinds, providerFailure } from "./provider-errors.ts";
import type { ModelRelay } from "./relay.ts";

const TIMEOUT_MS = 15_000;
const AGAIN_MS = 600_000;
const ANTHROPIC_VERSION = "2023-06-01";

/** Dependencies of the probe. */
export interface ProbeOptions {
  parts(): Pick<Components, "config" | "models">;
  environment: Environment;
  redact: Redactor;
  fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Statement of a provider about a model, without a question. */
type Finding =
  | { state: "ready" }
  | { state: "unknown" }
  | { state: "failing"; code: ErrorCode; detail: string };

/**
 * Asks the providers, behind the gateway's start, whether key and model are right, so that a wrong key
 * is in the status before the first person writes. It delays nothing, stops nothing, and costs no
 * tokens. What fails is asked again every ten minutes.
 */
export class ModelProbe {
  readonly #options: ProbeOptions;
  readonly #stop = new AbortController();
  /** A changed config brings a new one, of which nothing is known. */
  #known: ModelRelay | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Begins in the background. */
  start(): void {
    void this.#round();
    this.#timer = setInterval(() => void this.#round(), AGAIN_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stop.abort();
  }

  async #round(): Promise<void> {
    const { parts, environment, clock, log } = this.#options;
    const { config, models } = parts();
    const fresh = models !== this.#known;
    this.#known = models;
    const due = models.health().filter(({ state }) => fresh || state === "failing");
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

  /** https://docs.claude.com/en/api/models: one model, also by an alias. */
  async #askAnthropic({ modelId, baseUrl, apiKey }: ModelAddress, reading: Reading): Promise<Finding> {
    if (apiKey === "") {
      return { state: "failing", code: "model_key_invalid", detail: `${reading.reference}: ${NO_KEY}` };
    }
    const response = await this.#get(`${baseUrl}/models/${encodeURIComponent(modelId)}`, {
      "x-api-key": apiKey,
      "anthropic-version": ANTHROPIC_VERSION,
    });
    if (response.ok) return { state: "ready" };
    const body = await bodyOf(response);
    // A proxy without this route says nothing of the model.
    if (response.status === 404 && !errorKinds(body).includes("not_found_error")) return { state: "unknown" };
    return failing(response, body, reading);
  }

  /** https://platform.openai.com/docs/api-reference/models/list; not every server has it. */
  async #askCompatible({ modelId, baseUrl, apiKey }: ModelAddress, reading: Reading): Promise<Finding> {
    const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
    const response = await this.#get(`${baseUrl}/models`, headers);
    const body = await bodyOf(response);
    if (response.status === 404 || response.status === 405) return { state: "unknown" };
    if (!response.ok) return failing(response, body, reading);
    const ids = listedIds(body);
    if (ids === undefined) return { state: "unknown" };
    if (ids.includes(modelId)) return { state: "ready" };
    const detail = `${reading.reference}: the provider's list of models does not name it.`;
    return { state: "failing", code: "model_not_available", detail };
  }

  /** A redirect is not followed: it would carry the key elsewhere. */
  #get(url: string, headers: Record<string, string>): Promise<Response> {
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

/** `error.message`, in Anthropic's form and in OpenAI's. */
function messageOf(body: unknown): string | undefined {
  if (!isRecord(body) || !isRecord(body["error"])) return undefined;
  const { message } = body["error"];
  return typeof message === "string" ? message : undefined;
}

function listedIds(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["data"])) return undefined;
  return body["data"].map((model: unknown) => (isRecord(model) ? model["id"] : undefined));
}
