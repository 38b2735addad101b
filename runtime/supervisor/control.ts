import { parseJson } from "../shared/json.ts";
import {
  CONFIG_TEXTS,
  type ConfigRefusal,
  type ConfigTextKind,
  CONTROL_ROUTES,
} from "../contract/control.ts";
import { type ErrorCode, StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { problem } from "../contract/problem.ts";
import { bearerToken, isSameToken } from "../shared/token.ts";
import type { Control, ControlAnswer, ControlRequest } from "./control-request.ts";
import type { Supervisor } from "./supervisor.ts";

const REFUSED = 422;
const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;

const BACKUP_ROUTES = [
  CONTROL_ROUTES.revision,
  CONTROL_ROUTES.generations,
  CONTROL_ROUTES.restore,
  CONTROL_ROUTES.chats,
];
/** Maximum length of an operation request's body, in characters. */
const LONGEST_REQUEST = 128 * 1024;

type Handler = (query: URLSearchParams, body: string) => ControlAnswer | Promise<ControlAnswer>;

/** Creates the handler of the control API. Every request needs the control token as a Bearer token. */
export function createControl(supervisor: Supervisor, controlToken: string, log: Log): Control {
  const handlers: Readonly<Record<string, Handler>> = {
    [`GET ${CONTROL_ROUTES.status}`]: () => ok(supervisor.status()),
    [`GET ${CONTROL_ROUTES.processes}`]: (query) =>
      ok(supervisor.processes({ logs: query.get("logs") === "true", after: readAfter(query) })),
    [`GET ${CONTROL_ROUTES.config}`]: async () => ok(await supervisor.config()),
    [`POST ${CONTROL_ROUTES.operations}`]: async (_query, body) =>
      ok(await supervisor.operate(readOperationRequest(body))),
    [`POST ${CONTROL_ROUTES.restart}`]: () => {
      supervisor.restart();
      return { status: 202, value: supervisor.status() };
    },
    [`POST ${CONTROL_ROUTES.needed}`]: () => {
      supervisor.needed();
      return { status: 202, value: supervisor.status() };
    },
    [`GET ${CONTROL_ROUTES.configFile}`]: (query) => readConfigFile(supervisor, query),
    [`PUT ${CONTROL_ROUTES.configFile}`]: (query, body) => replaceConfigFile(supervisor, query, body),
    [`POST ${CONTROL_ROUTES.configFile}/fresh`]: (query) => beginAfresh(supervisor, query),
  };
  return async (request) => {
    const { method, path, authorization, body = "" } = request;
    if (!isSameToken(bearerToken(authorization), controlToken)) return refusal("control_refused");
    const { pathname, searchParams } = new URL(path, "http://control");
    const handler = handlers[`${method} ${pathname}`];
    try {
      if (handler !== undefined) return await handler(searchParams, body);
      return (await askBackups(supervisor, pathname, request)) ?? refusal("not_found");
    } catch (error) {
      if (error instanceof StewardError) return refusal(error.code, error.message);
      log.error("control request failed", { error: error instanceof Error ? error.stack : String(error) });
      return refusal("internal");
    }
  };
}

async function askBackups(
  supervisor: Supervisor,
  pathname: string,
  request: ControlRequest,
): Promise<ControlAnswer | undefined> {
  if (!BACKUP_ROUTES.some((route) => pathname === route || pathname.startsWith(`${route}/`)))
    return undefined;
  const { answerBackups } = await import("./backup-routes.ts");
  return answerBackups(await supervisor.backups(), request);
}

function readAfter(query: URLSearchParams): number | undefined {
  const after = query.get("after") ?? "";
  return /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

function ok(value: unknown): ControlAnswer {
  return { status: 200, value };
}

/** Checks only the shape of a request body. The operation's name and input are checked later. */
function readOperationRequest(body: string): { operation: unknown; input?: unknown } {
  const value = body.length > LONGEST_REQUEST ? undefined : parseJson(body);
  if (typeof value === "object" && value !== null && "operation" in value) return value;
  throw new StewardError("body_invalid", 'The body is not {"operation": "…", "input": {…}}.');
}

function refusal(code: ErrorCode, detail?: string): ControlAnswer {
  const document = problem(code, detail);
  return { status: document.status, value: document };
}

async function readConfigFile(supervisor: Supervisor, query: URLSearchParams) {
  const kind = (query.get("as") ?? "file") as ConfigTextKind;
  if (!CONFIG_TEXTS.includes(kind)) {
    throw new StewardError("query_invalid", `as: not one of ${CONFIG_TEXTS.join(", ")}`);
  }
  return { status: 200, value: await (await supervisor.editConfig()).read(kind) };
}

async function replaceConfigFile(supervisor: Supervisor, query: URLSearchParams, text: string) {
  const options = {
    expected: readExpected(query),
    unchecked: query.get("unchecked") === "true",
    plain: query.get("secrets") === "plain",
    write: query.get("write") !== "false",
  };
  const result = await (await supervisor.editConfig()).replace(text, options);
  if ("sha256" in result) return { status: 200, value: result };
  const refusal: ConfigRefusal = result;
  return { status: REFUSED, value: { ...problem("config_invalid", undefined, REFUSED), ...refusal } };
}

async function beginAfresh(supervisor: Supervisor, query: URLSearchParams) {
  (await supervisor.editConfig()).remove(readExpected(query));
  supervisor.restart();
  return { status: 202, value: supervisor.status() };
}

function readExpected(query: URLSearchParams): string {
  const expected = query.get("expected") ?? "";
  if (EXPECTED.test(expected)) return expected;
  throw new StewardError("query_invalid", "expected: neither a sha256 nor none");
}
