import { startModule, type ModuleWorker } from "../../support/module-worker.ts";

/** The same work without us: a Worker that answers, and one that has a Durable Object insert one row. */
const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  export class Rows extends DurableObject {
    sql = this.ctx.storage.sql;
    constructor(ctx, env) {
      super(ctx, env);
      this.sql.exec("CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    }
    async insert(body) {
      this.sql.exec("INSERT INTO rows VALUES (?, ?)", crypto.randomUUID(), body);
    }
  }
  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/healthz") return new Response("ok");
      await env.OBJECT.getByName(searchParams.get("object") ?? "one").insert(await request.text());
      return new Response("ok");
    },
  };
`;

/** Starts it in workerd. A request goes to one object, or to the one that `?object=` names. */
export function startBareWorker(dir: string): Promise<ModuleWorker> {
  return startModule(SOURCE, "Rows", dir);
}
