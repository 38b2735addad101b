import type { Context } from "hono";
import {
  CONTROL_ROUTES,
  type ConfigText,
  type ConfigTextKind,
  type ToldProblem,
} from "../../contract/control.ts";
import { ERRORS, StewardError } from "../../contract/errors.ts";
import type { Problem } from "../../contract/problem.ts";
import { readConfigRefusal, readEditedConfig } from "../container-answers.ts";
import { doctor } from "../../operations/doctor.ts";
import { askSupervisor, NO_SUPERVISOR, commandTimeout, operate } from "../operate.ts";
import type { PortRequest, Sandbox } from "../ports.ts";
import { nextPath } from "../sign-in.tsx";
import { isPage } from "../ui/console.tsx";
import { LIMIT_MS } from "./answers.ts";

/** Errors that pages show to the operator. Pages report any other error as an unavailable supervisor. */
const REFUSALS = ["config_changed", "body_too_large", "body_invalid", "disk_full"] as const;
const REFUSED = 422;

/** The file's new text, or the submitted text and the problems that prevented the change. */
export type Replaced = { text: string; problems: ToldProblem[] };

export interface Edited {
  text: string;
  /** SHA-256 of the file that the operator edited; `none` if there was no file. */
  expected: string;
}

/** Returns the page from which the operator came, with its query. */
export function originOf(context: Context): string | undefined {
  const from = context.req.query("from") ?? "";
  return nextPath(from) === from && isPage(from.split("?", 1)[0] ?? "") ? from : undefined;
}

/** Adds the origin page to the path of an edit's next step, so that the last step can return there. */
export function withOrigin(context: Context, path: string): string {
  const from = originOf(context);
  return from === undefined ? path : `${path}?${new URLSearchParams({ from })}`;
}

/** Reads the redacted config file for editing. */
export async function readConfigText(sandbox: Sandbox, as: ConfigTextKind): Promise<ConfigText> {
  const path = `${CONTROL_ROUTES.configFile}?as=${as}`;
  return readEditedConfig(await answer(await ask(sandbox, { method: "GET", path })));
}

/** Validates a new config text, and writes it if `write` is true. */
export async function replaceConfigText(
  sandbox: Sandbox,
  { text, expected }: Edited,
  write: boolean,
): Promise<Replaced> {
  const path = `${CONTROL_ROUTES.configFile}?expected=${expected}&write=${write}`;
  const response = await ask(sandbox, { method: "PUT", path, body: text });
  if (response.status === REFUSED) return readConfigRefusal(response);
  return { problems: [], text: (await readEditedConfig(await answer(response))).text ?? "" };
}

/** Runs the repairs of `steward doctor --fix` in the container. */
export async function repairInPlace(sandbox: Sandbox, expected: string): Promise<void> {
  const { sha256 } = await readConfigText(sandbox, "file");
  if (sha256 !== expected) throw new StewardError("config_changed");
  await operate(sandbox, doctor, { fix: true });
}

/** Sets the config file aside and restarts the gateway, which writes the defaults. */
export async function resetConfig(sandbox: Sandbox, expected: string): Promise<void> {
  const path = `${CONTROL_ROUTES.configFile}/fresh?expected=${expected}`;
  await answer(await ask(sandbox, { method: "POST", path }));
}

function ask(sandbox: Sandbox, request: PortRequest): Promise<Response> {
  return commandTimeout(LIMIT_MS, askSupervisor(sandbox, request));
}

async function answer(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { code, detail } = Object(await response.json().catch(() => undefined)) as Partial<Problem>;
  const own = REFUSALS.find((one) => one === code && ERRORS[one].status === response.status);
  throw own === undefined
    ? new StewardError("gateway_unavailable", NO_SUPERVISOR)
    : new StewardError(own, detail);
}
