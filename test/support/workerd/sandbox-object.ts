import type { Container, DurableObjectState, R2Bucket } from "@cloudflare/workers-types/index.ts";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import type { Grant, TenantReport } from "../../../runtime/edge/tenants/ports.ts";
import type { WorkerEnvironment } from "../../../runtime/worker/environment.ts";
import { type BackupsDoor, remoteBackups } from "../../../runtime/worker/remote-backups.ts";
import { toResult, unwrap } from "../../../runtime/worker/rpc.ts";
import { Sandbox as Real } from "../../../runtime/worker/sandbox.ts";
import { StandInContainer, type Data } from "./container.ts";
import { FlakyBucket } from "./flaky-bucket.ts";

export interface Step {
  object?: string;
  name: string;
  given?: unknown[];
}

interface Failing {
  bucket?: string[];
  lost?: string[];
  container?: string[];
  mute?: boolean;
}

const STATUS = { method: "GET", path: "/status" } as const;

/** State that outlives an evicted object. */
interface World {
  container: StandInContainer;
  flaky: FlakyBucket;
  storage: { at: number | null; fired: number };
}

let reported: unknown;
const DIRECTORY = {
  getByName: () => ({
    introduce: () => toResult(() => ({ admitted: true })),
    meet: () => toResult(() => {}),
    report: (_tenant: string, report: TenantReport) => toResult(() => void (reported = report.problem)),
    mayRenew: () => toResult(() => true),
    configChanged: () => toResult(() => {}),
  }),
} as unknown as NonNullable<WorkerEnvironment["DIRECTORY"]>;

/** Stand-in for the shared sandbox that served all chats before. */
const SANDBOX = {
  getByName: () => ({ moveOut: () => toResult(() => {}) }),
} as unknown as WorkerEnvironment["SANDBOX"];

const worlds = new Map<string, World>();

function worldOf({ id }: DurableObjectState, env: WorkerEnvironment): World {
  const known = worlds.get(String(id));
  if (known !== undefined) return known;
  const container = new StandInContainer();
  const world = { container, flaky: new FlakyBucket(env.STATE), storage: { at: null, fired: 0 } };
  worlds.set(String(id), world);
  return world;
}

let variables: Record<string, string> = {};
let offsetMs = 0;
const realNow = Date.now.bind(Date);
Date.now = () => realNow() + offsetMs;

/** Real Durable Object with a stand-in container, a bucket that can fail, and a clock that tests advance. */
export class Sandbox extends Real {
  readonly #container: StandInContainer;
  readonly #flaky: FlakyBucket;
  readonly #work: Set<Promise<unknown>>;
  readonly #storage: { at: number | null; fired: number };

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    // The stand-ins implement only the methods that the object uses.
    const { container, flaky, storage } = worldOf(ctx, env);
    Object.defineProperty(ctx, "container", { value: container as unknown as Container });
    Object.defineProperty(ctx.storage, "getAlarm", { value: async () => storage.at });
    Object.defineProperty(ctx.storage, "setAlarm", {
      value: async (time: number) => void (storage.at = time),
    });
    const work = new Set<Promise<unknown>>();
    const waitUntil = (promise: Promise<unknown>) => void work.add(promise);
    Object.defineProperty(ctx, "waitUntil", { value: waitUntil });
    super(ctx, {
      DIRECTORY,
      ...env,
      SANDBOX: env.SANDBOX ?? SANDBOX,
      ...variables,
      STATE: flaky as unknown as R2Bucket,
    });
    this.#container = container;
    this.#flaky = flaky;
    this.#storage = storage;
    this.#work = work;
  }

  /** Returns errors with their code instead of throwing. */
  async step({ name, given = [] }: Step): Promise<unknown> {
    const steps: Record<string, (...given: never[]) => unknown> = {
      wake: () => this.#wake(),
      status: () => unwrap(this.status()),
      begin: () => unwrap(this.wake("visitor")),
      operate: () => unwrap(this.wake("operator")),
      restart: async () => {
        const result = await this.restart();
        return "code" in result ? result.code : "restarted";
      },
      request: (path: string) => this.#ask(path),
      read: async (path: string) =>
        (await unwrap(this.request("supervisor", { method: "GET", path }))).json(),
      data: () => this.#container.data,
      write: (data: Partial<Data>) => Object.assign(this.#container.data, data),
      fail: (what: Failing) => this.#fail(what),
      admit: (event: Delivery) => unwrap(this.admit(event)),
      end: () => this.#container.end(),
      evict: () => this.ctx.abort("evicted"),
      set: (what: { answers?: boolean; nextAt?: string; lines?: string[] }) =>
        void Object.assign(this.#container, what),
      log: () => JSON.parse(this.parts.answers.last("logs")?.text ?? "{}"),
      changeRights: (grant: Grant) => unwrap(this.changeRights(grant)),
      beginSchedules: () => unwrap(this.beginSchedules()),
      // Simulates a broken version that used up all retries of the alarm.
      dropAlarm: () => void (this.#storage.at = null),
      // Without an `await`, so that the object does not notice the container's end.
      lose: () => {
        this.#container.end();
        this.ctx.abort("evicted");
      },
      deploy: (changed: Record<string, string>) => {
        variables = changed;
        this.ctx.abort("another version");
      },
      pass: (ms: number) => this.#pass(ms),
      skip: (ms: number) => void (offsetMs += ms),
      seen: () => this.#seen(),
      writeAmid: (call: string, data: Partial<Data>) =>
        this.#amid(call, () => Object.assign(this.#container.data, data)),
      evictAfter: (call: string, data: Partial<Data> = {}) => {
        this.#container.after = async (one) => {
          if (!one.startsWith(call)) return;
          this.#container.after = async () => {};
          Object.assign(this.#container.data, data);
          this.ctx.abort("evicted");
        };
      },
      useAmid: (call: string) => this.#amid(call, () => this.request("supervisor", STATUS)),
      passAmid: (call: string, ms: number) => this.#amid(call, () => this.#pass(ms)),
      putAmid: (call: string, key: string, text: string) =>
        this.#amid(call, () => this.env.STATE.put(key, text)),
      call: (method: "list", parameters: unknown[] = []) =>
        (remoteBackups(() => this)[method] as (...all: unknown[]) => unknown)(...parameters),
    };
    try {
      return { value: (await steps[name]?.(...(given as never[]))) ?? null };
    } catch (error) {
      return { error: { code: (error as { code?: string }).code, message: String(error) } };
    }
  }

  async #wake(): Promise<unknown> {
    await unwrap(this.wake("visitor"));
    for (;;) {
      const status = await unwrap(this.status());
      if (status.state === "ready" || status.reason !== undefined) return status;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #ask(path: string): Promise<number> {
    const response = await unwrap(this.request("supervisor", { method: "POST", path, body: "{}" }));
    return response.status;
  }

  #fail({ bucket = [], lost = [], container = [], mute = false }: Failing): void {
    this.#flaky.failing = bucket;
    this.#flaky.lost = lost;
    this.#container.failing = container;
    this.#container.mute = mute;
  }

  /** Runs `work` once, at the next request that begins with `call`. */
  #amid(call: string, work: () => unknown): void {
    this.#container.before = async (one) => {
      if (!one.startsWith(call)) return;
      this.#container.before = async () => {};
      await work();
    };
  }

  async #pass(ms: number): Promise<void> {
    const until = Date.now() + ms;
    for (let at = this.#storage.at; at !== null && at <= until; at = this.#storage.at) {
      offsetMs += Math.max(at - Date.now(), 0);
      this.#storage.at = null;
      this.#storage.fired += 1;
      await this.alarm();
      await this.#settled();
    }
    offsetMs += Math.max(until - Date.now(), 0);
  }

  async #settled(): Promise<void> {
    for (const promise of this.#work) {
      await Promise.allSettled([promise]);
      this.#work.delete(promise);
    }
  }

  #seen(): unknown {
    const { calls, starts, outlives, running, gateway } = this.#container;
    const { fired, at } = this.#storage;
    return {
      calls,
      starts,
      outlives,
      running,
      gateway,
      fired,
      alarm: at,
      reported,
      stored: this.#flaky.calls,
    };
  }
}

type Binding = { getByName(name: string): BackupsDoor & { step(step: Step): Promise<unknown> } };

export default {
  async fetch(request: Request, env: { OBJECT: Binding; STATE: R2Bucket }): Promise<Response> {
    const step = (await request.json()) as Step;
    if (step.name === "download") {
      const [id = ""] = step.given as string[];
      const stream = await remoteBackups(() => env.OBJECT.getByName(step.object ?? "one")).download(id);
      return Response.json({ value: await new Response(stream).text() });
    }
    if (step.object !== "bucket")
      return Response.json(await env.OBJECT.getByName(step.object ?? "one").step(step));
    const [key = "", text = ""] = (step.given ?? []) as string[];
    if (step.name === "put") await env.STATE.put(key, text);
    if (step.name === "delete") await env.STATE.delete(key);
    if (step.name === "text")
      return Response.json({ value: (await (await env.STATE.get(key))?.text()) ?? null });
    const { objects } = await env.STATE.list();
    return Response.json({ value: objects.map((one) => one.key) });
  },
};
