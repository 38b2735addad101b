import { parseJson } from "../../shared/json.ts";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { STATUS_TOKEN_FILE } from "../../contract/names.ts";
import {
  GATEWAY_ROUTES,
  type GatewayStatus,
  type ModelTest,
  type ModelTested,
} from "../../contract/control.ts";
import { isErrorCode, StewardError } from "../../contract/errors.ts";
import { homeName } from "../../process/settings.ts";
import type { CommandContext } from "./context.ts";

/** Timeout in milliseconds. A local gateway answers sooner unless it hangs. */
const TIMEOUT_MS = 2_000;

/**
 * Answer of the local gateway. `details` requires the control or status token. `foreign` is true if another program
 * uses the port.
 */
export interface GatewayAnswer {
  url: string;
  ready: boolean;
  foreign?: true;
  version?: string;
  details?: GatewayStatus;
}

type Surroundings = Pick<CommandContext, "settings">;

export async function askReady({ settings }: Surroundings): Promise<GatewayAnswer> {
  const url = gatewayUrl(settings);
  const answer = await readJson<{ version: string; home?: string }>(`${url}${GATEWAY_ROUTES.ready}`);
  if (answer === undefined) return { url, ready: false };
  if (answer.home !== homeName(settings.home)) return { url, ready: false, foreign: true };
  return { url, ready: true, version: answer.version };
}

export async function askGateway(context: Surroundings): Promise<GatewayAnswer> {
  const answer = await askReady(context);
  if (!answer.ready) return answer;
  const details = await readJson<GatewayStatus>(`${answer.url}${GATEWAY_ROUTES.status}`, bearer(context));
  return { ...answer, ...(details && { details }) };
}

/**
 * Asks the local gateway to test a model. Resolves to `undefined` if no gateway is running.
 *
 * @throws StewardError the gateway's error
 */
export async function testByGateway(
  context: Surroundings,
  model: string,
  limitMs: number,
): Promise<ModelTested | undefined> {
  const { url, ready } = await askReady(context);
  if (!ready) return undefined;
  const body: ModelTest = { model };
  const answer = await exchange(`${url}${GATEWAY_ROUTES.testModel}`, {
    headers: { ...bearer(context), "content-type": "application/json" },
    body: JSON.stringify(body),
    timeoutMs: limitMs + TIMEOUT_MS,
  });
  if (answer === undefined) return undefined;
  if (answer.status === 200) return answer.body as ModelTested;
  const { code, detail } = (answer.body ?? {}) as { code?: unknown; detail?: string };
  throw new StewardError(isErrorCode(code) ? code : "internal", detail);
}

function bearer({ settings }: Surroundings): Record<string, string> {
  const { controlToken = statusToken(settings.home) } = settings;
  return { authorization: `Bearer ${controlToken}` };
}

function statusToken(home: string): string {
  try {
    return readFileSync(path.join(home, STATUS_TOKEN_FILE), "utf8").trim();
  } catch {
    return "";
  }
}

/** Returns the gateway's URL, with the loopback address in place of a wildcard address. */
function gatewayUrl({ bind, gatewayPort }: CommandContext["settings"]): string {
  if (bind === "0.0.0.0") return `http://127.0.0.1:${gatewayPort}`;
  if (bind === "::") return `http://[::1]:${gatewayPort}`;
  return `http://${bind.includes(":") ? `[${bind}]` : bind}:${gatewayPort}`;
}

async function readJson<T>(url: string, headers: Record<string, string> = {}): Promise<T | undefined> {
  const answer = await exchange(url, { headers, timeoutMs: TIMEOUT_MS });
  return answer?.status === 200 ? (answer.body as T | undefined) : undefined;
}

/** Sends a POST if there is a body, else a GET. Resolves to `undefined` if the request fails or times out. */
// Uses `node:http`, because loading `fetch` takes a quarter of a command's time.
function exchange(
  url: string,
  { body, timeoutMs, headers }: { body?: string; timeoutMs: number; headers: Record<string, string> },
): Promise<{ status: number; body: unknown } | undefined> {
  return new Promise((resolve) => {
    const nothing = (): void => resolve(undefined);
    const method = body === undefined ? "GET" : "POST";
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request(url, { method, headers, signal, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("error", nothing);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: parseJson(text) }));
    });
    asked.on("error", nothing).end(body);
  });
}
