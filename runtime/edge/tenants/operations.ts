import type * as z from "zod/mini";
// Import statically: a dynamic import prevents tree shaking, so the Worker's single file would contain the complete
// schema library.
import * as ids from "../../contract/config/ids.ts";
import {
  type ChatsReport,
  CONTROL_ROUTES,
  type OperationReply,
  type OperationRequest,
} from "../../contract/control.ts";
import { type Platform, platformSchema } from "../../contract/delivery.ts";
import { cat } from "../../operations/cat.ts";
import type { OperationTools } from "../../operations/operation.ts";
import { devices } from "../../operations/devices.ts";
import { pairing } from "../../operations/pairing.ts";
import { readRequest } from "../../operations/registry.ts";
import { replyOf } from "../../operations/reply.ts";
import { undo } from "../../operations/undo.ts";
import { StewardError } from "../../contract/errors.ts";
import { problem, problemResponse } from "../../contract/problem.ts";
import type { PairedDevice } from "../../shared/devices.ts";
import { operate } from "../operate.ts";
import type { PortRequest, Sandbox, SandboxPort } from "../ports.ts";
import type { Browsers } from "./browsers.ts";
import type { People } from "./people.ts";

/** Pairing files of a data directory that the `cat` operation may show. */
const FILE = /^credentials\/(?<platform>\w+)-(?<name>pairing|allowFrom|operators)\.json$/;

interface UncheckedRequest {
  operation?: unknown;
  input?: unknown;
}

/** Returns true for access-management operations, such as pairing. */
function isAboutPeople({ operation, input }: UncheckedRequest): boolean {
  const isPairing = [pairing, devices].some((group) =>
    Object.values(group).some(({ name }) => name === operation),
  );
  const { record } = Object(input) as { record?: unknown };
  const isUndo = operation === undo.name && !/^.{64}\{"schedules"/.test(String(record));
  return isPairing || isUndo || (operation === cat.name && FILE.test(fileIn(input)));
}

/**
 * Runs an access-management operation.
 *
 * @throws StewardError `command_not_allowed` or `usage_invalid`, in both cases before anything has changed.
 */
export async function operateOnPeople(
  people: People,
  browsers: Browsers,
  asked: UncheckedRequest,
): Promise<OperationReply> {
  if (!isAboutPeople(asked)) throw new StewardError("command_not_allowed");
  const { operation, input } = readRequest(asked.operation, asked.input);
  if (operation.name === cat.name) return replyOf(() => ({ text: fileText(people, fileIn(input)) }));
  const tools = {
    devices: async () => browsers,
    pairing: async () => (platform: Platform) => people.lists(platform),
    contract: { ids: async () => ids },
  };
  return replyOf(() => operation.run(tools as unknown as OperationTools, input));
}

function fileText(people: People, file: string): string {
  const { platform, name = "" } = FILE.exec(file)?.groups ?? {};
  const { data } = platformSchema.safeParse(platform);
  const content = data && people.file(data, name);
  if (content === undefined) throw new StewardError("file_unreadable", `${file}: no such file`);
  return `${JSON.stringify(content, null, 2)}\n`;
}

function fileIn(input: unknown): string {
  const { file } = Object(input) as { file?: unknown };
  return typeof file === "string" ? file : "";
}

interface DeploymentParts {
  /** The deployment's sandbox, whose config file applies to all chats. */
  deployment: Sandbox;
  /**
   * Runs an access-management operation (such as granting or revoking a person's access) without starting a
   * container.
   */
  operate(request: OperationRequest): Promise<OperationReply>;
}

/**
 * Wraps a chat's sandbox. Sends config file requests to `deployment`, and access-management operations to `operate`.
 */
export function withDeploymentParts(sandbox: Sandbox, { deployment, operate }: DeploymentParts): Sandbox {
  const whose = (port: SandboxPort | undefined, { path }: PortRequest): Sandbox =>
    port === "supervisor" && path.startsWith(CONTROL_ROUTES.configFile) ? deployment : sandbox;
  const ask = async (request: OperationRequest): Promise<Response> => {
    try {
      return Response.json(await operate(request));
    } catch (error) {
      if (error instanceof StewardError) return problemResponse(problem(error.code, error.message));
      throw error;
    }
  };
  return {
    status: () => sandbox.status(),
    wake: (by) => sandbox.wake(by),
    restart: () => sandbox.restart(),
    request: (port, request) => {
      const operation = peopleOperation(port, request);
      return operation === undefined ? whose(port, request).request(port, request) : ask(operation);
    },
    peek: (request, port) => {
      const operation = peopleOperation(port, request);
      return operation === undefined ? whose(port, request).peek(request, port) : ask(operation);
    },
  };
}

function peopleOperation(port: SandboxPort | undefined, { path, body = "" }: PortRequest) {
  if (port !== "supervisor" || path !== CONTROL_ROUTES.operations) return undefined;
  const request = JSON.parse(body) as OperationRequest;
  return isAboutPeople(request) ? request : undefined;
}

interface AdoptOptions {
  /** The sandbox that served every chat. */
  sandbox: Sandbox;
  people: Pick<People, "adopt" | "replace">;
  browsers: Pick<Browsers, "adopt" | "replace">;
  /** Version of the approvals that were last stored for `sandbox`. */
  stored: string | undefined;
}

/**
 * Starts the sandbox's container, then copies the sandbox's lists of approvals and requests to the tenant directory.
 * If the version of the approvals that the sandbox has loaded is `stored`, the sandbox's approvals replace those in
 * the directory; otherwise, the sandbox's approvals are added to those in the directory. The sandbox's requests are
 * added in both cases.
 *
 * @throws StewardError if the container does not answer
 */
export async function adoptApprovals({ sandbox, people, browsers, stored }: AdoptOptions): Promise<void> {
  const answer = await operate(sandbox, pairing.list, {});
  if (!("channels" in answer)) throw new StewardError("command_failed");
  const { paired } = await operate(sandbox, devices.list, {});
  const knows = stored !== undefined && (await broughtBack(sandbox)) === stored;
  for (const { channel, approved: allowFrom, operators, requests } of answer.channels) {
    if (knows) people.replace(channel, { allowFrom, operators, requests });
    else people.adopt(channel, { allowFrom, operators, requests });
  }
  browsers[knows ? "replace" : "adopt"](paired.map(wholeDevice));
}

/** Adds the fields that `devices.list` omits. */
function wholeDevice({ tokens, ...device }: Listed): PairedDevice {
  const { scopes, approvedAtMs: createdAtMs } = device;
  const whole = Object.entries(tokens).map(([role, token]) => [
    role,
    { token: crypto.randomUUID(), scopes, createdAtMs, ...token },
  ]);
  return { ...device, tokens: Object.fromEntries(whole), platform: "web", remoteIp: "", createdAtMs };
}

type Listed = z.infer<ReturnType<typeof devices.list.output>>["paired"][number];

/**
 * Asks a sandbox which version of the approvals it has loaded, and returns that version; `undefined` if it has loaded
 * none.
 */
async function broughtBack(sandbox: Sandbox): Promise<unknown> {
  const answer = await sandbox.request("supervisor", { method: "GET", path: CONTROL_ROUTES.chats });
  const { broughtBack: versions } = Object(await answer.json()) as Partial<ChatsReport>;
  return versions?.["approvals"];
}
