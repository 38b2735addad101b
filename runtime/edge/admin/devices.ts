import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import { CONTROL_ROUTES, type SandboxStatus } from "../../contract/control.ts";
import { platformSchema } from "../../contract/delivery.ts";
import { type ErrorCode, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readField } from "../form.ts";
import { operateJson, within } from "../operate.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { age } from "../pages/age.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import { WAIT_REFRESH_SECONDS } from "../home-route.ts";
import type { Clock, Sandbox } from "../ports.ts";
import {
  type AccessList,
  type Device,
  type DeviceRequest,
  readAccessList,
  type SenderRequest,
} from "./access-list.ts";
import { type Done, type Flash, flashQuery, readFlash } from "./flash.ts";

/** For all that one form asks for. */
const LIMIT_MS = 10_000;

/** `<platform>:<code>` or `device:<request id>`. */
const REQUEST = new RegExp(`^(?:(?:${platformSchema.options.join("|")}):[A-Z]{8}|device:[0-9a-f-]{36})$`);
const DEVICE = /^[0-9a-f]{64}$/;

/** `GET /_admin/devices`: who waits for approval and which devices have it; wakes nothing. */
export function showDevices(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleDevices(context) {
    const flash = readFlash(context);
    const status = await sandbox.status();
    const list = status.state === "stopped" ? undefined : await readAccessList(sandbox, clock);
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(devicesPage({ visitor, flash, status, list, now: clock() }));
  };
}

/** Dependencies of a change. */
interface DeviceActions {
  sandbox: Sandbox;
  clock: Clock;
  log: Log;
}

/**
 * `POST /_admin/devices/approve` and `…/reject`, field `request`, several times to settle several: exactly
 * those that the page showed, and none that came since.
 */
export function settleRequests(verb: "approve" | "reject", actions: DeviceActions): Handler<AccessVariables> {
  const done = verb === "approve" ? "approved" : "rejected";
  return async function handleSettle(context) {
    const requests = await readField(context.req.raw, "request", REQUEST);
    const commands = requests.map((request) => {
      const [kind = "", id = ""] = request.split(":");
      return kind === "device" ? ["devices", verb, id] : ["pairing", verb, kind, id];
    });
    const problem = await runAll(commands, actions, context.get("identity").name);
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery(done, problem)}`, 303);
  };
}

/** `POST /_admin/devices/revoke`, field `device`. */
export function revokeDevice(actions: DeviceActions): Handler<AccessVariables> {
  return async function handleRevoke(context) {
    const devices = await readField(context.req.raw, "device", DEVICE);
    const commands = devices.map((device) => ["devices", "revoke", device]);
    const problem = await runAll(commands, actions, context.get("identity").name);
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery("revoked", problem)}`, 303);
  };
}

/** `POST /_admin/devices/wake`: starts a stopped container, which looking at the page does not. */
export function wakeForDevices({ sandbox, log }: DeviceActions): Handler<AccessVariables> {
  return async function handleWake(context) {
    log.info("operator wakes the container", { by: context.get("identity").name });
    const asked = sandbox.request("supervisor", { method: "GET", path: CONTROL_ROUTES.status });
    // It starts whether or not it answers in time; the page then tells its state.
    await within(LIMIT_MS, asked).catch(() => undefined);
    const done: Done = "waking";
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery(done)}`, 303);
  };
}

/** Runs commands one after another. What failed first is told; the page shows what is still open. */
async function runAll(
  commands: readonly string[][],
  { sandbox, clock, log }: DeviceActions,
  by: string,
): Promise<ErrorCode | undefined> {
  const deadline = clock() + LIMIT_MS;
  let problem: ErrorCode | undefined;
  for (const words of commands) {
    log.info("operator settles access", { by, command: words.join(" ") });
    try {
      await within(Math.max(0, deadline - clock()), operateJson(sandbox, words, z.unknown()));
    } catch (error) {
      const code = error instanceof StewardError ? error.code : "command_failed";
      log.warn("operator's command failed", { by, command: words.join(" "), code });
      problem ??= code;
      if (code === "command_timed_out") break;
    }
  }
  return problem;
}

/** Content of the page of the devices. */
interface DevicesView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  /** `undefined` while the container is stopped: looking does not wake it. */
  list: AccessList | undefined;
  now: number;
}

/** The page of `/_admin/devices`. */
function devicesPage({ visitor, flash, status, list, now }: DevicesView): Markup {
  // Only while a button's start is under way, so that nobody's page reloads under their hands.
  const starting = flash.done === "waking" && ["stopped", "starting"].includes(status.state);
  const refreshSeconds = starting ? WAIT_REFRESH_SECONDS : undefined;
  return adminFrame(
    { title: "Devices", visitor, flash, refreshSeconds },
    html`${list === undefined ? stoppedPart(status) : listPart(list, now)} ${commandLinePart()}`,
  );
}

function stoppedPart(status: SandboxStatus): Markup {
  return html`${stateLine(status)} ${reasonBox(status.reason)}
    <p>Who waits for approval is known once the container runs. Looking at this page does not start it.</p>
    <form method="post" action="${ROUTES.devicesWake.path}">
      <button type="submit">Start the container</button>
    </form>`;
}

/** Renders who waits for approval, with buttons, and which browsers have it. */
export function listPart({ senders, requests, devices, problem }: AccessList, now: number): Markup {
  const waiting = [
    ...senders.map((one) => `${one.platform}:${one.code}`),
    ...requests.map((one) => `device:${one.requestId}`),
  ];
  const isOpen = problem !== undefined;
  return html`${reasonBox(problem)}
    <h2>Waiting for approval (${waiting.length}${isOpen ? " known" : ""})</h2>
    ${waiting.length === 0 ? html`<p class="soft">Nobody${isOpen ? " that is known of" : ""}.</p>` : ""}
    <ul class="cards">
      ${senders.map((one) => senderCard(one, now, isOpen))} ${requests.map((one) => requestCard(one, now))}
    </ul>
    ${waiting.length > 1 ? approveAllForm(waiting) : ""}
    <h2>Web chat devices (${devices.length})</h2>
    ${devices.length === 0 ? html`<p class="soft">None${isOpen ? " that is known of" : ""}.</p>` : ""}
    <ul class="cards">
      ${devices.map((one) => deviceCard(one, now))}
    </ul>`;
}

function senderCard({ platform, code, sender, name, askedAt }: SenderRequest, now: number, isOpen: boolean) {
  const words = `pairing approve ${platform} ${code}`;
  return html`<li>
    <h3>${name === "" ? sender : name}</h3>
    <dl>
      <dt>Platform</dt>
      <dd>${platform}</dd>
      <dt>Code</dt>
      <dd><code>${code}</code></dd>
      <dt>Sender</dt>
      <dd>${sender}</dd>
      <dt>Asked</dt>
      <dd>${age(askedAt, now)}</dd>
    </dl>
    ${settleForms(`${platform}:${code}`, `${platform} ${code}`)}
    <details ${isOpen ? "open" : ""}>
      <summary>By command</summary>
      <p><code>steward ${words}</code></p>
      <p><code>/debug/cli?cmd=${words}</code></p>
    </details>
  </li>`;
}

function requestCard({ requestId, name, address, askedAt }: DeviceRequest, now: number): Markup {
  return html`<li>
    <h3>${name === "" ? "A browser" : name}</h3>
    <dl>
      <dt>Platform</dt>
      <dd>web chat</dd>
      <dt>Request</dt>
      <dd><code>${requestId}</code></dd>
      <dt>Address</dt>
      <dd>${address}</dd>
      <dt>Asked</dt>
      <dd>${age(askedAt, now)}</dd>
    </dl>
    ${settleForms(`device:${requestId}`, `device ${requestId.slice(0, 12)}`)}
  </li>`;
}

function deviceCard({ deviceId, name, approvedAt, revoked }: Device, now: number): Markup {
  return html`<li>
    <h3>${name === "" ? "A browser" : name}</h3>
    <dl>
      <dt>Device</dt>
      <dd><code>${deviceId.slice(0, 12)}</code></dd>
      <dt>Approved</dt>
      <dd>${age(approvedAt, now)}</dd>
      <dt>State</dt>
      <dd>${revoked ? "revoked" : "approved"}</dd>
    </dl>
    ${revoked ? "" : postForm(ROUTES.devicesRevoke.path, "device", [deviceId], "Revoke", deviceId.slice(0, 12))}
  </li>`;
}

function settleForms(request: string, named: string): Markup {
  return html`<div class="actions">
    ${postForm(ROUTES.devicesApprove.path, "request", [request], "Approve", named)}
    ${postForm(ROUTES.devicesReject.path, "request", [request], "Reject", named)}
  </div>`;
}

/** It names those that are shown, so that nobody is let in that nobody saw. */
function approveAllForm(requests: readonly string[]): Markup {
  const label = `Approve all ${requests.length}`;
  return postForm(ROUTES.devicesApprove.path, "request", requests, label, "requests shown here");
}

function postForm(action: string, field: string, values: readonly string[], verb: string, what: string) {
  return html`<form method="post" action="${action}">
    ${values.map((value) => html`<input type="hidden" name="${field}" value="${value}" />`)}
    <button type="submit" aria-label="${verb} ${what}">${verb}</button>
  </form>`;
}

function commandLinePart(): Markup {
  return html`<h2>By command</h2>
    <p>
      <code>steward pairing approve slack &lt;code&gt;</code> in the container, or
      <code>/debug/cli?cmd=pairing approve slack &lt;code&gt;</code> here. Likewise <code>pairing list</code>,
      <code>devices list</code> and <code>devices approve &lt;request&gt;</code>.
    </p>`;
}
