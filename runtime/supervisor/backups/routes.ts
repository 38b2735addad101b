import {
  CONFIG_SOURCES,
  type ConfigSource,
  generationId,
  generationManifest,
  type GenerationManifest,
} from "../../contract/backup.ts";
import {
  CONTROL_ROUTES,
  type RestoreRequest,
  type SnapshotRequest,
  type StateRevision,
} from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import type { ControlAnswer, ControlRequest } from "../control-request.ts";
import type { StateBackups } from "./backups.ts";

/** Answers what is asked of the copies of the state; `undefined` where no route of theirs is meant. */
export async function answerBackups(
  backups: StateBackups,
  request: ControlRequest,
): Promise<ControlAnswer | undefined> {
  const { pathname, searchParams } = new URL(request.path, "http://control");
  const asked = `${request.method} ${pathname}`;
  if (asked === `GET ${CONTROL_ROUTES.revision}`) {
    const answer: StateRevision = { revision: await backups.revision() };
    return ok(answer);
  }
  if (asked === `GET ${CONTROL_ROUTES.generations}`) return ok({ generations: await backups.list() });
  if (asked === `POST ${CONTROL_ROUTES.generations}`) {
    return ok(await backups.make({ id: readId(request.body) }));
  }
  if (asked === `POST ${CONTROL_ROUTES.restore}`) return receive(backups, request, searchParams);
  const [, id = "", action = ""] =
    new RegExp(`^${CONTROL_ROUTES.generations}/([\\d-]+)(/\\w+)?$`).exec(pathname) ?? [];
  return id === "" ? undefined : answerOne(backups, id, `${request.method} ${action}`, request.body);
}

async function answerOne(
  backups: StateBackups,
  id: string,
  asked: string,
  body: string | undefined,
): Promise<ControlAnswer | undefined> {
  switch (asked) {
    case "GET ": {
      const { content, manifest } = await backups.open(id);
      return { status: 200, content, size: manifest.size };
    }
    case "DELETE ":
      await backups.remove(id);
      return { status: 204, value: null };
    case "POST /verify":
      return ok(await backups.verify(id));
    case "POST /restore":
      return ok(await backups.restore(id, readConfigSource(fieldOf(body, "config"))));
    default:
      return undefined;
  }
}

async function receive(
  backups: StateBackups,
  { content, manifest: header }: ControlRequest,
  query: URLSearchParams,
): Promise<ControlAnswer> {
  const start = query.get("start") !== "false";
  if (header === undefined) {
    for await (const piece of content ?? []) {
      if (piece.length > 0) throw new StewardError("body_invalid", "An archive came without its manifest.");
    }
    await backups.receiveNothing({ start });
    return ok(null);
  }
  const config = readConfigSource(query.get("config"));
  const archive = { content: content ?? empty(), manifest: readManifest(header) };
  if (query.get("show") === "config") return ok(await backups.showConfig(archive));
  if (query.get("take") === "config") return ok(await backups.takeConfig(archive));
  if (query.get("drill") === "true") return ok(await backups.tryOut(archive));
  return ok(await backups.receive(archive, { config, start }));
}

async function* empty(): AsyncGenerator<Uint8Array> {}

function readManifest(header: string): GenerationManifest {
  try {
    return generationManifest.parse(JSON.parse(header));
  } catch (error) {
    throw new StewardError("body_invalid", "The header steward-manifest holds no manifest.", {
      cause: error,
    });
  }
}

function readId(body: string | undefined): string | undefined {
  const id = fieldOf(body, "id");
  if (id === undefined) return undefined;
  const { data } = generationId.safeParse(id);
  if (data === undefined) throw new StewardError("body_invalid", "The id is no generation's name.");
  return data;
}

function readConfigSource(value: unknown): ConfigSource {
  const known = CONFIG_SOURCES.find((one) => one === value);
  if (known !== undefined) return known;
  throw new StewardError("body_invalid", `"config" is none of ${CONFIG_SOURCES.join(", ")}.`);
}

/** A field of a JSON object; an empty body is an empty one. */
function fieldOf(body: string | undefined, name: keyof SnapshotRequest | keyof RestoreRequest): unknown {
  if (body === undefined || body === "") return undefined;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null)
      return Object.entries(value).find(([key]) => key === name)?.[1];
  } catch {
    // Told below, as what is JSON and no object.
  }
  throw new StewardError("body_invalid", "The body is no JSON object.");
}

function ok(value: unknown): ControlAnswer {
  return { status: 200, value };
}
