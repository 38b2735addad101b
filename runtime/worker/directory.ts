import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { TenantQuery } from "../edge/tenants/ports.ts";
import { TenantRoster } from "../edge/tenants/roster.ts";
import { durableSql } from "./durable-sql.ts";
import type { WorkerEnvironment } from "./environment.ts";
import { answer } from "./rpc.ts";

/**
 * Knows the tenants of a deployment in which each chat has a sandbox of its own. It sees a chat's first message only:
 * what follows goes to the chat's own object.
 */
export class Directory extends DurableObject<WorkerEnvironment> {
  readonly #roster: TenantRoster;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    this.#roster = new TenantRoster(durableSql(ctx.storage), Date.now);
  }

  tenants(query: TenantQuery) {
    return answer(() => this.#roster.list(query));
  }
}
