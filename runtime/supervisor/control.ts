import { CONTROL_ROUTES } from "../contract/control.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { problem } from "../contract/problem.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import type { Supervisor } from "./supervisor.ts";

/** A request to the control API, in plain data. */
export interface ControlRequest {
  method: string;
  /** Path with query. */
  path: string;
  authorization: string | undefined;
}

/** Its answer: a value as JSON, which is a problem document where `status` is an error's. */
export interface ControlAnswer {
  status: number;
  value: unknown;
}

/** The control API. It answers while the gateway is dead: that is when it is needed. Never rejects. */
export type Control = (request: ControlRequest) => Promise<ControlAnswer>;

type Handler = (query: URLSearchParams) => ControlAnswer | Promise<ControlAnswer>;

/** Makes the control API of a supervisor. Every request needs the control token as a Bearer. */
export function createControl(supervisor: Supervisor, controlToken: string, log: Log): Control {
  const handlers: Readonly<Record<string, Handler>> = {
    [`GET ${CONTROL_ROUTES.status}`]: () => ok(supervisor.status()),
    [`GET ${CONTROL_ROUTES.processes}`]: (query) =>
      ok(supervisor.processes({ logs: query.get("logs") === "true" })),
    [`GET ${CONTROL_ROUTES.config}`]: async () => ok(await supervisor.config()),
    [`POST ${CONTROL_ROUTES.restart}`]: () => {
      supervisor.restart();
      return { status: 202, value: supervisor.status() };
    },
  };
  return async ({ method, path, authorization }) => {
    if (!sameToken(bearerToken(authorization), controlToken)) return refusal("control_refused");
    const { pathname, searchParams } = new URL(path, "http://control");
    const handler = handlers[`${method} ${pathname}`];
    if (handler === undefined) return refusal("not_found");
    try {
      return await handler(searchParams);
    } catch (error) {
      log.error("control request failed", { error: error instanceof Error ? error.stack : String(error) });
      return refusal("internal");
    }
  };
}

function ok(value: unknown): ControlAnswer {
  return { status: 200, value };
}

function refusal(code: ErrorCode): ControlAnswer {
  const document = problem(code);
  return { status: document.status, value: document };
}
