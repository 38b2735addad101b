import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { GrantedRole } from "../contract/config/rights.ts";
import type { TenantId } from "../contract/tenant.ts";
import type { Grant } from "../edge/tenants/ports.ts";
import { assemble, type SandboxParts } from "./assembly.ts";
import { consoleLog, type FormerObject, type TenantObject, type WorkerEnvironment } from "./environment.ts";
import { toResult, type Remote } from "./rpc.ts";

/** Interval at which an object is looked after that its version cannot build, in milliseconds. */
const BUILD_AGAIN_MS = 60_000;

/**
 * The part of a sandbox's object that the directory and other sandboxes' objects call, where each chat has a sandbox of
 * its own.
 */
export abstract class TenantCalls
  extends DurableObject<WorkerEnvironment>
  implements Remote<TenantObject & FormerObject>
{
  /**
   * Not a call: the platform offers methods alone to other objects. Throws what {@link assemble} has thrown: the object has
   * to exist for its alarm.
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

  /** Runs the agenda. An object that this version cannot build passes its alarm on to the next version. */
  async alarm(): Promise<void> {
    let parts: SandboxParts;
    try {
      parts = this.parts;
    } catch {
      // The platform gives up an alarm that fails six times, and nothing would wake the object for its events.
      await this.ctx.storage.setAlarm(Date.now() + BUILD_AGAIN_MS);
      return;
    }
    await parts.agenda.run();
  }

  /** An operator has changed the rights of the person who writes in this chat. */
  changeRights(grant: Grant) {
    return toResult(() => this.parts.changeRights(grant));
  }

  /** An operator has changed the rights of the browser that this object serves. */
  changeBrowser(role: GrantedRole | undefined) {
    return toResult(() => this.parts.gate?.changeBrowser(role, this.parts.chat));
  }

  /** Another tenant waits for a container: ends this one unless it is in use. */
  sleepEarly() {
    return toResult(() => this.parts.sleep.early());
  }

  /** The chat has a schedule, and perhaps nobody has written in it yet. */
  beginSchedules() {
    return toResult(() => this.parts.beginSchedules());
  }

  /** The deployment's config has changed. */
  followConfig() {
    return toResult(() => this.parts.state.followConfig());
  }

  /** One sandbox serves every chat again, and takes over this one's last backup. */
  handOver() {
    return toResult(() => this.parts.handOver());
  }

  /** An update waits for this tenant: starts its container if it sleeps. */
  lookAsDeployed() {
    return toResult(() => this.parts.gateway.lookAsDeployed());
  }

  /** A chat gets its own container, and this object served it before. */
  moveOut(tenant: TenantId) {
    const { agenda, exports } = this.parts;
    const moved = toResult(() => exports.moveOut(tenant)).finally(() => agenda.schedule());
    this.ctx.waitUntil(moved);
    return moved;
  }

  /** See {@link FormerObject}. */
  servedAllSince() {
    return toResult(() => this.parts.servedAllSince());
  }
}
