import { parseJson } from "../../shared/json.ts";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import path from "node:path";
import { STATUS_TOKEN_FILE } from "../../contract/names.ts";
import type { GatewayStatus } from "../../contract/control.ts";
import { homeDigest } from "../../process/settings.ts";
import type { CommandContext } from "./context.ts";

/** A gateway on this machine answers within milliseconds; one that hangs is not up. */
const TIMEOUT_MS = 2_000;
const READY = "/readyz";
const STATUS = "/status";

/**
 * Statement of the running gateway about itself. `details` if this process has its control token or may read its status token. `foreign`: something
 * else answers on its port, perhaps the gateway of another data directory.
 */
export interface GatewayAnswer {
  url: string;
  ready: boolean;
  foreign?: true;
  version?: string;
  details?: GatewayStatus;
}

type Surroundings = Pick<CommandContext, "settings">;

/** Asks the gateway of this machine whether it is ready. */
export async function askReady({ settings }: Surroundings): Promise<GatewayAnswer> {
  const url = gatewayUrl(settings);
  const answer = await readJson<{ version: string; home?: string }>(`${url}${READY}`);
  if (answer === undefined) return { url, ready: false };
  if (answer.home !== homeDigest(settings.home)) return { url, ready: false, foreign: true };
  return { url, ready: true, version: answer.version };
}

/** Says where the gateway answers, or why it does not. */
export function readyText({ url, ready, foreign, version }: GatewayAnswer): string {
  if (ready) return `ready at ${url}, version ${version}`;
  return foreign
    ? `another program answers at ${url}: stop it, or set another GATEWAY_PORT for this gateway`
    : `no answer at ${url}`;
}

/** Asks the gateway of this machine how everything stands. */
export async function askGateway(context: Surroundings): Promise<GatewayAnswer> {
  const answer = await askReady(context);
  if (!answer.ready) return answer;
  const { controlToken = statusToken(context.settings.home) } = context.settings;
  const headers = { authorization: `Bearer ${controlToken}` };
  const details = await readJson<GatewayStatus>(`${answer.url}${STATUS}`, headers);
  return { ...answer, ...(details && { details }) };
}

/** Reads the token of the running gateway; empty if there is none to read. */
function statusToken(home: string): string {
  try {
    return readFileSync(path.join(home, STATUS_TOKEN_FILE), "utf8").trim();
  } catch {
    return "";
  }
}

/** A wildcard address is reached on loopback. */
function gatewayUrl({ bind, gatewayPort }: CommandContext["settings"]): string {
  if (bind === "0.0.0.0") return `http://127.0.0.1:${gatewayPort}`;
  if (bind === "::") return `http://[::1]:${gatewayPort}`;
  return `http://${bind.includes(":") ? `[${bind}]` : bind}:${gatewayPort}`;
}

// Node's plain client: `fetch` takes a quarter of a command's time to load.
function readJson<T>(url: string, headers: Record<string, string> = {}): Promise<T | undefined> {
  return new Promise((resolve) => {
    const nothing = (): void => resolve(undefined);
    const asked = get(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("error", nothing);
      response.on("end", () =>
        resolve(response.statusCode === 200 ? (parseJson(text) as T | undefined) : undefined),
      );
    });
    asked.on("error", nothing);
  });
}
