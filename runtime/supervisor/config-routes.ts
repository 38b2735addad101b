import { CONFIG_TEXTS, type ConfigRefusal, type ConfigTextKind } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { problem } from "../contract/problem.ts";
import type { Supervisor } from "./supervisor.ts";

const REFUSED = 422;
const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;

/** `GET /config-file`. */
export async function readConfigFile(supervisor: Supervisor, query: URLSearchParams) {
  const kind = (query.get("as") ?? "file") as ConfigTextKind;
  if (!CONFIG_TEXTS.includes(kind)) {
    throw new StewardError("query_invalid", `as: not one of ${CONFIG_TEXTS.join(", ")}`);
  }
  return { status: 200, value: (await supervisor.editConfig()).read(kind) };
}

/** `PUT /config-file`. */
export async function replaceConfigFile(supervisor: Supervisor, query: URLSearchParams, text: string) {
  const options = {
    expected: readExpected(query),
    unchecked: query.get("unchecked") === "true",
    write: query.get("write") !== "false",
  };
  const result = await (await supervisor.editConfig()).replace(text, options);
  if (!("problems" in result)) return { status: 200, value: result };
  const refusal: ConfigRefusal = result;
  return { status: REFUSED, value: { ...problem("config_invalid", undefined, REFUSED), ...refusal } };
}

/** `POST /config-file/fresh`. */
export async function beginAfresh(supervisor: Supervisor, query: URLSearchParams) {
  (await supervisor.editConfig()).remove(readExpected(query));
  supervisor.restart();
  return { status: 202, value: supervisor.status() };
}

function readExpected(query: URLSearchParams): string {
  const expected = query.get("expected") ?? "";
  if (EXPECTED.test(expected)) return expected;
  throw new StewardError("query_invalid", "expected: neither a sha256 nor none");
}
