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
export function versionRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();

  routes.post("/:worker/versions", async (context) => {
    const body = await readBody(context, versionBody);
    const deployAtOnce = context.req.query("deploy") === "true";
    const version = await store.change(async (draft) => {
      const created = upload(account, draft, context.req.param("worker"), body);
      if (deployAtOnce) await deploy(account, draft, created.workerId, whole(created), {});
      return created;
    });
    return ok(context, presentVersion(store.state, version));
  });

  routes.get("/:worker/versions", (context) => {
    const worker = workerOf(store.state, context.req.param("worker"));
    const own = store.state.versions.filter(({ workerId }) => workerId === worker.id).toReversed();
    return page(
      context,
      own.map((version) => presentVersion(store.state, version)),
    );
  });

  routes.get("/:worker/versions/:version", (context) => {
    const worker = workerOf(store.state, context.req.param("worker"));
    const version = versionOf(store.state, worker, context.req.param("version"));
    const modules = context.req.query("include") === "modules" ? account.modules : undefined;
    return ok(context, presentVersion(store.state, version, modules));
  });

  routes.delete("/:worker/versions/:version", async (context) => {
    await store.change((draft) => {
      const worker = workerOf(draft, context.req.param("worker"));
      const version = versionOf(draft, worker, context.req.param("version"));
      const deployed = draft.deployments.some(({ versions }) => {
        return versions.some(({ version_id: id }) => id === version.id);
      });
      if (deployed) throw new ApiError(409, 10212, "A version that was deployed cannot be deleted.");
      draft.versions = draft.versions.filter((one) => one !== version);
    });
    return ok(context, null);
  });

  return routes;
}

function whole(version: VersionRecord): { version_id: string; percentage: number }[] {
  return [{ version_id: version.id, percentage: 100 }];
}

function upload(
  account: AccountContext,
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
    created_on: timestamp(account),
    main_module: main,
    modules: modules.map((module) => ({
      name: module.name,
      content_type: module.content_type,
      sha256: account.modules.put(Buffer.from(module.content_base64, "base64")),
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
