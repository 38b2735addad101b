import { Readable } from "node:stream";
import type { DiskStore } from "../backups/stores/disk.ts";
import { CONFIG_SOURCES, type ConfigSource, generationId, generationManifest } from "../contract/backup.ts";
import {
  CONTROL_ROUTES,
  type RestoreRequest,
  type SnapshotRequest,
  type StateRevision,
} from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { type Approvals, approvalsForm, isTenantId } from "../contract/tenant.ts";
import { isRecord, parseJson } from "../shared/json.ts";
import type { ControlAnswer, ControlRequest } from "./control-request.ts";

/** Last segment of the approvals route, in place of a tenant's id. */
const APPROVALS_PART = "approvals";
const ONE = new RegExp(`^${CONTROL_ROUTES.generations}/([\\d-]+)(/\\w+)?$`);

/** Answers a request about backups. Resolves to `undefined` if no route matches. */
export async function answerBackups(
  backups: DiskStore,
  request: ControlRequest,
): Promise<ControlAnswer | undefined> {
  const { method, body } = request;
  const { pathname, searchParams } = new URL(request.path, "http://control");
  switch (`${method} ${pathname}`) {
    case `GET ${CONTROL_ROUTES.revision}`:
      return ok({ revision: await backups.revision() } satisfies StateRevision);
    case `GET ${CONTROL_ROUTES.generations}`:
      return ok({ generations: await backups.list() });
    case `POST ${CONTROL_ROUTES.generations}`:
      return ok(await backups.write({ id: readId(fieldOf(body, "id")) }));
    case `POST ${CONTROL_ROUTES.restore}`:
      return receive(backups, request, searchParams);
    case `GET ${CONTROL_ROUTES.chats}`:
      return ok(await backups.chats());
    case `PUT ${CONTROL_ROUTES.chats}/${APPROVALS_PART}`:
      await backups.replaceApprovals(readApprovals(body));
      return { status: 204, value: null };
  }
  const tenant = pathname.slice(CONTROL_ROUTES.chats.length + 1);
  if (method === "POST" && pathname === `${CONTROL_ROUTES.chats}/${tenant}` && isTenantId(tenant)) {
    const id = readId(fieldOf(body, "id"));
    if (id === undefined) throw new StewardError("body_invalid", "The backup has no id.");
    return ok(await backups.writeChat(tenant, id));
  }
  const [, id = "", action = ""] = ONE.exec(pathname) ?? [];
  if (id === "") return undefined;
  switch (`${method} ${action}`) {
    case "GET ": {
      const { content, manifest } = await backups.read({ id });
      return { status: 200, content: Readable.from(content), size: manifest.size };
    }
    case "DELETE ":
      await backups.remove(id);
      return { status: 204, value: null };
    case "POST /verify":
      return ok(await backups.verifyArchive(await backups.read({ id })));
    case "POST /restore":
      return ok(await backups.restore(id, readConfigSource(fieldOf(body, "config"))));
  }
  return undefined;
}

async function receive(
  backups: DiskStore,
  { content = empty(), manifest: header }: ControlRequest,
  query: URLSearchParams,
): Promise<ControlAnswer> {
  const start = query.get("start") !== "false";
  if (header === undefined) {
    for await (const piece of content) {
      if (piece.length > 0) throw new StewardError("body_invalid", "The archive has no manifest.");
    }
    await backups.receiveEmpty({ start });
    return ok(null);
  }
  const config = readConfigSource(query.get("config"));
  const { data: manifest } = generationManifest.safeParse(parseJson(header));
  if (manifest === undefined)
    throw new StewardError("body_invalid", "The header steward-manifest contains no manifest.");
  const archive = { content, manifest };
  const tenant = query.get("chat");
  if (tenant !== null && isTenantId(tenant)) return ok(await backups.mergeTenant(tenant, archive));
  if (query.get("show") === "config") return ok(await backups.showConfig(archive));
  if (query.get("take") === "config") return ok(await backups.takeConfig(archive));
  if (query.get("drill") === "true") return ok(await backups.verifyArchive(archive));
  return ok(await backups.receive(archive, { config, start }));
}

async function* empty(): AsyncGenerator<Uint8Array> {}

function readId(id: unknown): string | undefined {
  if (id === undefined || generationId.safeParse(id).success) return id as string | undefined;
  throw new StewardError("body_invalid", "The id is not the name of a generation.");
}

function readConfigSource(value: unknown): ConfigSource {
  const known = CONFIG_SOURCES.find((one) => one === value);
  if (known !== undefined) return known;
  throw new StewardError("body_invalid", `"config" is not one of ${CONFIG_SOURCES.join(", ")}.`);
}

function readApprovals(body: string | undefined): Approvals {
  const { data } = approvalsForm.safeParse(parseJson(body ?? ""));
  if (data === undefined) throw new StewardError("body_invalid", "The body lists no approvals.");
  return data;
}

/** Returns a field of a JSON object. An empty body counts as an empty object. */
function fieldOf(body: string | undefined, name: keyof SnapshotRequest | keyof RestoreRequest): unknown {
  const value = body ? parseJson(body) : {};
  if (isRecord(value)) return value[name];
  throw new StewardError("body_invalid", "The body is not a JSON object.");
}

function ok(value: unknown): ControlAnswer {
  return { status: 200, value };
}
