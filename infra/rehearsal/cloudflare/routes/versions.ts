import { Hono } from "hono";
import * as z from "zod";
import { timestamp, type AccountContext } from "../account/context.ts";
import { uuid } from "../account/ids.ts";
import { versionOf, workerOf } from "../account/lookup.ts";
import type { AccountState, VersionRecord } from "../account/state.ts";
import { checkBindings } from "../bindings.ts";
import { deploy } from "../deploy.ts";
import { ApiError, invalid, notModelled, ok, page, readBody } from "../envelope.ts";
import { checkTag } from "../migrations.ts";
import { presentVersion } from "../version-view.ts";
import { migrationOf, versionBody } from "../version-body.ts";

/** https://developers.cloudflare.com/api/resources/workers/subresources/beta/subresources/workers/subresources/versions/ */
export function versionRoutes(context: AccountContext): Hono {
  const { store } = context;
  const routes = new Hono();

  routes.post("/:worker/versions", async (request) => {
    const body = await readBody(request, versionBody);
    const deployAtOnce = request.req.query("deploy") === "true";
    const version = await store.change(async (draft) => {
      const created = upload(context, draft, request.req.param("worker"), body);
      if (deployAtOnce) await deploy(context, draft, created.workerId, whole(created), {});
      return created;
    });
    return ok(request, presentVersion(store.state, version));
  });

  routes.get("/:worker/versions", (request) => {
    const worker = workerOf(store.state, request.req.param("worker"));
    const own = store.state.versions.filter(({ workerId }) => workerId === worker.id).toReversed();
    return page(
      request,
      own.map((version) => presentVersion(store.state, version)),
    );
  });

  routes.get("/:worker/versions/:version", (request) => {
    const worker = workerOf(store.state, request.req.param("worker"));
    const version = versionOf(store.state, worker, request.req.param("version"));
    const modules = request.req.query("include") === "modules" ? context.modules : undefined;
    return ok(request, presentVersion(store.state, version, modules));
  });

  routes.delete("/:worker/versions/:version", async (request) => {
    await store.change((draft) => {
      const worker = workerOf(draft, request.req.param("worker"));
      const version = versionOf(draft, worker, request.req.param("version"));
      const deployed = draft.deployments.some(({ versions }) => {
        return versions.some(({ version_id: id }) => id === version.id);
      });
      if (deployed) throw new ApiError(409, 10212, "A version that was deployed cannot be deleted.");
      draft.versions = draft.versions.filter((one) => one !== version);
    });
    return ok(request, null);
  });

  return routes;
}

function whole(version: VersionRecord): { version_id: string; percentage: number }[] {
  return [{ version_id: version.id, percentage: 100 }];
}

function upload(
  context: AccountContext,
  draft: AccountState,
  idOrName: string,
  body: z.infer<typeof versionBody>,
): VersionRecord {
  const worker = workerOf(draft, idOrName);
  const { modules, bindings, containers, migrations, main_module: main, ...rest } = body;
  const { compatibility_date: date, compatibility_flags: flags, ...settings } = rest;
  for (const field of ["assets", "exports"]) {
    if (settings[field] !== undefined) throw notModelled(`a version's ${field}`);
  }
  if (!modules.some((module) => module.name === main)) {
    throw invalid(`main_module: '${main}' is not one of the modules`);
  }
  const migration = migrations && migrationOf(migrations);
  if (migration) checkTag(worker, migration);
  checkBindings(draft, worker.name, bindings);
  const numbers = draft.versions.filter(({ workerId }) => workerId === worker.id).map(({ number }) => number);
  const version: VersionRecord = {
    id: uuid(),
    workerId: worker.id,
    number: Math.max(0, ...numbers) + 1,
    created_on: timestamp(context),
    main_module: main,
    modules: modules.map((module) => ({
      name: module.name,
      content_type: module.content_type,
      sha256: context.modules.put(Buffer.from(module.content_base64, "base64")),
    })),
    bindings,
    containers,
    compatibility_date: date,
    compatibility_flags: flags,
    ...(migration && { migrations: migration }),
    migrated: false,
    settings,
  };
  draft.versions.push(version);
  return version;
}
