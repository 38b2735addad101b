import { createHash } from "node:crypto";
import type { GenerationManifest } from "../../../runtime/contract/backup.ts";
import { GATEWAY_ROUTES, MANIFEST_HEADER } from "../../../runtime/contract/control.ts";
import type { ChatDeliveries } from "../../../runtime/contract/delivery.ts";
import { reason, type ErrorCode } from "../../../runtime/contract/errors.ts";
import { PORTS } from "../../../runtime/contract/names.ts";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";

export interface Data {
  messages: number;
  config: string | null;
}

/** Only config that the stand-in rejects. */
const BROKEN = '{"broken":true}';
const FRESH = '{"fresh":true}';
const LISTEN_AFTER_MS = 20;

/**
 * Stand-in for `ctx.container` with a supervisor that follows contract/control.ts. Not modelled: tar archives and
 * processes.
 */
export class StandInContainer {
  running = false;
  starts = 0;
  readonly outlives: number[] = [];
  data: Data = { messages: 0, config: null };
  gateway: "held" | "running" = "held";
  /** Requests to the supervisor, except state queries. */
  readonly calls: string[] = [];
  /** Beginnings of requests that fail with status 503. With `mute`, every connection fails instead. */
  failing: string[] = [];
  mute = false;
  answers = false;
  /** ISO 8601. */
  nextAt: string | undefined;
  lines: string[] = [];
  answerMs = 0;
  answered = 0;
  /** Hook at the start of each request. */
  before: (call: string) => Promise<void> = async () => {};
  after: (call: string) => Promise<void> = async () => {};
  #listensAt = 0;
  #generations = new Map<string, string>();

  start({ env }: { env: Record<string, string> }): void {
    if (env["STEWARD_AWAIT_RESTORE"] !== "true") throw new Error("the supervisor is not told to wait");
    this.running = true;
    this.starts += 1;
    this.data = { messages: 0, config: null };
    this.gateway = "held";
    this.#generations.clear();
    this.#listensAt = performance.now() + LISTEN_AFTER_MS;
  }

  async setInactivityTimeout(milliseconds: number): Promise<void> {
    if (!this.running) throw new Error("The container is not running");
    this.outlives.push(milliseconds);
  }

  /** Polls, because a Durable Object may not await another object's promise. */
  async monitor(): Promise<void> {
    const run = this.starts;
    while (this.running && this.starts === run) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  signal(): void {
    this.end();
  }

  async destroy(): Promise<void> {
    this.end();
  }

  end(): void {
    this.running = false;
  }

  getTcpPort(port: number): { fetch(url: string, init?: RequestInit): Promise<Response> } {
    return {
      fetch: async (url, init) => {
        if (!this.running || this.mute || performance.now() < this.#listensAt)
          throw new Error("The container is not listening on the requested port");
        const request = new Request(url, init);
        return port === PORTS.supervisor ? this.#supervisor(request) : this.#gateway(request);
      },
    };
  }

  async #gateway(request: Request): Promise<Response> {
    if (this.gateway === "held") throw new Error("The gateway is not listening");
    if (this.answers && new URL(request.url).pathname === GATEWAY_ROUTES.chat) {
      const { deliveries } = (await request.json()) as ChatDeliveries;
      if (this.answerMs > 0) await new Promise((resolve) => setTimeout(resolve, this.answerMs));
      this.answered += deliveries.length;
      const end = { status: 200, body: { outcome: "answered" } };
      return new Response(deliveries.map((_, index) => `${JSON.stringify({ index, ...end })}\n`).join(""));
    }
    return Response.json({ schedules: { count: 0, missed: 0, nextAt: this.nextAt } });
  }

  async #supervisor(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const call = `${request.method} ${pathname}${search}`;
    if (call === "GET /status") return Response.json(this.#status());
    if (call !== "GET /revision" && pathname !== "/processes") this.calls.push(call);
    await this.before(call);
    const answer = await this.#answer(request, call);
    await this.after(call);
    return answer;
  }

  async #answer(request: Request, call: string): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (this.failing.some((one) => call.startsWith(one))) return refusal("disk_full");
    if (call === "GET /revision") return Response.json({ revision: JSON.stringify(this.data) });
    if (pathname === "/processes") {
      const after = Number(new URL(request.url).searchParams.get("after") ?? 0);
      const [logs, nextLog] = [this.lines.slice(after), this.lines.length];
      return Response.json({ processes: [{ name: "gateway", logs, nextLog }] });
    }
    if (pathname === "/generations") return this.#snapshot(((await request.json()) as { id: string }).id);
    if (pathname.startsWith("/generations/")) return this.#generation(request, pathname.split("/")[2] ?? "");
    if (pathname === "/restore") return this.#restore(request);
    if (pathname === "/config-file" && request.method === "GET") return Response.json(this.#config());
    if (pathname === "/config-file") {
      const expected = new URL(request.url).searchParams.get("expected");
      if (expected !== (this.#config().sha256 ?? "none")) return refusal("config_changed");
      const text = await request.text();
      if (text === BROKEN && !search.includes("unchecked=true")) return refusal("config_invalid");
      this.data.config = text;
    }
    if (pathname === "/restart") this.#startGateway();
    return new Response(null, { status: 202 });
  }

  #status(): object {
    const status = { state: "starting", since: "", restarts: 0 };
    if (this.gateway === "held") return { ...status, start: { at: "", phase: "restoring" } };
    if (this.data.config !== BROKEN) return { ...status, state: "ready" };
    return { ...status, state: "crash-looping", reason: reason("config_invalid") };
  }

  #config(): { text: string | null; sha256: string | null } {
    const { config } = this.data;
    return { text: config, sha256: config === null ? null : sha256(config) };
  }

  #snapshot(id: string): Response {
    const archive = JSON.stringify(this.data);
    this.#generations.set(id, archive);
    const manifest: GenerationManifest = {
      version: 1,
      id,
      createdAt: new Date(Date.now()).toISOString(),
      sha256: sha256(archive),
      size: archive.length,
      configSha256: this.#config().sha256,
      configValid: this.data.config !== BROKEN,
      counts: { files: 1, sessions: 0, messages: this.data.messages, schedules: 0, approvals: 0 },
      agentVersion: "0.1.0",
    };
    return Response.json(manifest);
  }

  #generation(request: Request, id: string): Response {
    const archive = this.#generations.get(id);
    if (archive === undefined) return refusal("backup_unknown");
    if (request.method === "DELETE") this.#generations.delete(id);
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    return new Response(archive);
  }

  async #restore(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const header = request.headers.get(MANIFEST_HEADER);
    const archive = await request.text();
    const manifest = header === null ? undefined : (JSON.parse(header) as GenerationManifest);
    if (manifest !== undefined && manifest.sha256 !== sha256(archive)) return refusal("backup_corrupt");
    if (searchParams.get("show") === "config") {
      return Response.json({ ...this.#config(), text: (JSON.parse(archive) as Data).config });
    }
    if (searchParams.get("take") === "config") {
      this.data.config = (JSON.parse(archive) as Data).config;
      return Response.json(this.#config());
    }
    const report = { id: manifest?.id ?? "", counts: manifest?.counts, configProblems: [] };
    if (searchParams.get("drill") === "true") return Response.json(report);
    const before = this.data.config;
    this.data = manifest === undefined ? { messages: 0, config: null } : (JSON.parse(archive) as Data);
    if (searchParams.get("config") === "fresh") this.data.config = null;
    if (searchParams.get("config") === "current") this.data.config = before;
    if (searchParams.get("start") !== "false") this.#startGateway();
    return Response.json(report);
  }

  #startGateway(): void {
    this.gateway = "running";
    this.data.config ??= FRESH;
  }
}

function refusal(code: ErrorCode): Response {
  return problemResponse(problem(code));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
