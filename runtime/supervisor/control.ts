import { CONTROL_ROUTES } from "../contract/control.ts";
import { StewardError, type ErrorCode } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { readOperation } from "../contract/operations.ts";
import { problem } from "../contract/problem.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import { beginAfresh, readConfigFile, replaceConfigFile } from "./config-routes.ts";
import type { Supervisor } from "./supervisor.ts";

/** Characters of the longest body with the words of a line. */
const LONGEST_LINE = 64 * 1024;

/** A request to the control API, in plain data. */
export interface ControlRequest {
  method: string;
  /** Path with query. */
  path: string;
  authorization: string | undefined;
  body?: string | undefined;
}

/** Its answer: a value as JSON, which is a problem document where `status` is an error's. */
export interface ControlAnswer {
  status: number;
  value: unknown;
}

/** The control API. It answers while the gateway is dead: that is when it is needed. Never rejects. */
export type Control = (request: ControlRequest) => Promise<ControlAnswer>;

type Handler = (query: URLSearchParams, body: string) => ControlAnswer | Promise<ControlAnswer>;

/** Makes the control API of a supervisor. Every request needs the control token as a Bearer. */
export function createControl(supervisor: Supervisor, controlToken: string, log: Log): Control {
  const handlers: Readonly<Record<string, Handler>> = {
    [`GET ${CONTROL_ROUTES.status}`]: () => ok(supervisor.status()),
    [`GET ${CONTROL_ROUTES.processes}`]: (query) =>
      ok(supervisor.processes({ logs: query.get("logs") === "true" })),
    [`GET ${CONTROL_ROUTES.config}`]: async () => ok(await supervisor.config()),
    [`POST ${CONTROL_ROUTES.cli}`]: async (_query, body) =>
      ok(await supervisor.operate(readOperation(readWords(body)))),
    [`POST ${CONTROL_ROUTES.restart}`]: () => {
      supervisor.restart();
      return { status: 202, value: supervisor.status() };
    },
    [`GET ${CONTROL_ROUTES.configFile}`]: (query) => readConfigFile(supervisor, query),
    [`PUT ${CONTROL_ROUTES.configFile}`]: (query, body) => replaceConfigFile(supervisor, query, body),
    [`POST ${CONTROL_ROUTES.configFile}/fresh`]: (query) => beginAfresh(supervisor, query),
  };
  return async ({ method, path, authorization, body = "" }) => {
    if (!sameToken(bearerToken(authorization), controlToken)) return refusal("control_refused");
    const { pathname, searchParams } = new URL(path, "http://control");
    const handler = handlers[`${method} ${pathname}`];
    if (handler === undefined) return refusal("not_found");
    try {
      return await handler(searchParams, body);
    } catch (error) {
      if (error instanceof StewardError) return refusal(error.code, error.message);
      log.error("control request failed", { error: error instanceof Error ? error.stack : String(error) });
      return refusal("internal");
    }
  };
}

function ok(value: unknown): ControlAnswer {
  return { status: 200, value };
}

/** The words of a {@link CliRequest}. */
function readWords(body: string): string[] {
  try {
    const value: unknown = JSON.parse(body.length > LONGEST_LINE ? "" : body);
    const words = typeof value === "object" && value !== null && "words" in value ? value.words : undefined;
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  } catch {
    // Told below, as what is JSON and not of the form.
  }
  throw new StewardError("body_invalid", 'The body is not {"words": [...]}.');
}

function refusal(code: ErrorCode, detail?: string): ControlAnswer {
  const document = problem(code, detail);
  return { status: document.status, value: document };
}
