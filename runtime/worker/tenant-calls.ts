import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { GrantedRole } from "../contract/config/rights.ts";
import type { TenantId } from "../contract/tenant.ts";
import type { Grant } from "../edge/tenants/ports.ts";
import { assemble, type SandboxParts } from "./assembly.ts";
import { consoleLog, type FormerObject, type TenantObject, type WorkerEnvironment } from "./environment.ts";
import { toResult, type Remote } from "./rpc.ts";

/** Interval between alarms, in milliseconds, while the Durable Object's components cannot be created. */
const BUILD_AGAIN_MS = 60_000;

/** Methods for calls from the directory and from other sandboxes' objects. Used if each chat has its own sandbox. */
export abstract class TenantCalls
  extends DurableObject<WorkerEnvironment>
  implements Remote<TenantObject & FormerObject>
{
  /**
   * Components of this Durable Object. If {@link assemble} threw an error, every access to `parts` throws this error,
   * but the alarm still works.
   */
  protected readonly parts!: SandboxParts;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    try {
      this.parts = assemble(ctx, env);
    } catch (error) {
      consoleLog({}).error("the object cannot be built", { error: String(error) });
      const get = (): never => {
        throw error;
      };
      Object.defineProperty(this, "parts", { get });
    }
  }

  /** Runs the due tasks. If the Durable Object's components could not be created, only sets another alarm. */
  async alarm(): Promise<void> {
    let parts: SandboxParts;
    try {
      parts = this.parts;
    } catch {
      // Set another alarm: the platform drops an alarm after six failures. Without an alarm, nothing would wake the
      // object for waiting events.
      await this.ctx.storage.setAlarm(Date.now() + BUILD_AGAIN_MS);
      return;
    }
    await parts.agenda.run();
  }

  changeRights(grant: Grant) {
    return toResult(() => this.parts.changeRights(grant));
  }

  changeBrowser(role: GrantedRole | undefined) {
    return toResult(() => this.parts.gate?.changeBrowser(role, this.parts.chat));
  }

  sleepEarly() {
    return toResult(() => this.parts.sleep.sleepEarly());
  }

  beginSchedules() {
    return toResult(() => this.parts.beginSchedules());
  }

  followConfig() {
    return toResult(() => this.parts.state.followConfig());
  }

  handOver() {
    return toResult(() => this.parts.handOver());
  }

  lookAsDeployed() {
    return toResult(() => this.parts.gateway.lookAsDeployed());
  }

  moveOut(tenant: TenantId) {
    const { agenda, exports } = this.parts;
    const moved = toResult(() => exports.moveOut(tenant)).finally(() => agenda.schedule());
    this.ctx.waitUntil(moved);
    return moved;
  }

  servedAllSince() {
    return toResult(() => this.parts.servedAllSince());
  }
}
