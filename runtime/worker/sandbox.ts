import type { SandboxStatus } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { BROKER_PATH } from "../contract/services.ts";
import { BROWSER_HEADER } from "../contract/chat.ts";
import { openChat, WAKE_REFUSED } from "./chat.ts";
import { REFUSED_WAKE_SECONDS } from "../edge/home-route.tsx";
import type {
  ActivityEntry,
  Backups,
  LedgerQuery,
  NameQuery,
  PortRequest,
  SandboxPort,
  Sighting,
} from "../edge/ports.ts";
import type { SandboxCalls } from "./environment.ts";
import { callBackups } from "./remote-backups.ts";
import { toResult } from "./rpc.ts";
import { TenantCalls } from "./tenant-calls.ts";

/** Delay before a page retries a refused chat socket. Hosts use the same delay. */
const ASK_AGAIN_SECONDS = 5;

/**
 * Durable Object that owns one container, for the whole deployment or for one chat. Records events and delivers them
 * to the container.
 */
export class Sandbox extends TenantCalls implements SandboxCalls {
  admit(event: Delivery) {
    return toResult(() => this.parts.ledger.admit(event));
  }

  counts() {
    return toResult(() => this.parts.store.counts());
  }

  list(query: LedgerQuery) {
    return toResult(() => this.parts.store.list(query));
  }

  details(key: string) {
    return toResult(() => this.parts.store.details(key));
  }

  excerpt(key: string) {
    return toResult(() => this.parts.store.excerpt(key));
  }

  names(keys: readonly string[]) {
    return toResult(() => this.parts.store.names.names(keys));
  }

  entries(query: NameQuery) {
    return toResult(() => this.parts.store.names.entries(query));
  }

  noteNames(sightings: readonly Sighting[]) {
    return toResult(() => this.parts.store.names.record(sightings, Date.now()));
  }

  recent(limit: number) {
    return toResult(() => this.parts.store.recent(limit));
  }

  replay(key: string) {
    return toResult(() => this.parts.ledger.replay(key));
  }

  record(entry: Omit<ActivityEntry, "at">) {
    return toResult(() => this.parts.activity.record(entry));
  }

  activity(limit: number, actions?: readonly string[]) {
    return toResult(() => this.parts.activity.list(limit, actions));
  }

  keepAnswer(question: string, text: string) {
    return toResult(() => this.parts.answers.keep(question, text));
  }

  lastAnswer(question: string) {
    return toResult(() => this.parts.answers.last(question));
  }

  useSignature(mac: string, expiresAt: number) {
    return toResult(() => this.parts.signatures.use(mac, expiresAt));
  }

  status() {
    return toResult(() => this.#status());
  }

  wake(by: "visitor" | "operator") {
    return toResult(() => this.parts.gateway.wake(by));
  }

  wakeFor(deviceId: string) {
    return toResult(() => this.parts.wakeFor(deviceId));
  }

  restart() {
    return toResult(() => this.parts.gateway.restart());
  }

  request(port: SandboxPort, request: PortRequest) {
    return toResult(async () => {
      const { gateway } = this.parts;
      const response = await gateway.request(port, request);
      // A refused request may come from a stranger and must not keep the container awake.
      if (response.ok) gateway.renewActivityTimeout();
      return response;
    });
  }

  /** Sends a request that does not count as activity, because frequent scrapes must not keep the container awake. */
  peek(request: PortRequest, port?: SandboxPort) {
    return toResult(() => this.parts.gateway.peek(request, port));
  }

  callBackups(method: keyof Backups, parameters: unknown[]) {
    const { agenda, state } = this.parts;
    const called = callBackups(state.service, method, parameters).finally(() => agenda.schedule());
    // Finish the work even if the page disconnects.
    this.ctx.waitUntil(called);
    return called;
  }

  /**
   * Handles the gateway's broker requests and the sockets of chat pages. A page wakes a sleeping container, and must
   * retry until the gateway is ready. The number of wakes by visitors is limited.
   */
  async fetch(request: Request): Promise<Response> {
    const { broker, chat, gate, gateway } = this.parts;
    if (new URL(request.url).pathname.startsWith(`${BROKER_PATH}/`)) return broker.handle(request);
    // The Worker has checked this browser, so it may wake the container without a limit.
    const isAdmitted = request.headers.has(BROWSER_HEADER);
    if (isAdmitted) gate?.open();
    const { state, reason } = await this.#status();
    if (state === "ready") return openChat(chat, this.parts.upgrade, request.headers);
    const document = problem("gateway_unavailable", reason?.detail);
    return (await gateway.wake(isAdmitted ? "operator" : "visitor"))
      ? problemResponse(document, { "retry-after": String(ASK_AGAIN_SECONDS) })
      : problemResponse(document, { "retry-after": String(REFUSED_WAKE_SECONDS), [WAKE_REFUSED]: "true" });
  }

  async #status(): Promise<SandboxStatus> {
    const { agenda, broker, duty, gateway, ledger } = this.parts;
    const status = await gateway.status();
    if (status.state === "ready") ledger.onReady();
    // Apply a changed SANDBOX_SLEEP_AFTER, and set the alarm again if the object was recreated.
    agenda.schedule();
    return { ...status, duty: duty.duty, broker: { ...broker.counts } };
  }
}
