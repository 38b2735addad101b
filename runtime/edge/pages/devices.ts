import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessList, Device, DeviceRequest, SenderRequest } from "../admin/access-list.ts";
import type { Flash } from "../admin/flash.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { age } from "./age.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";
import { WAIT_REFRESH_SECONDS } from "./wait.ts";

/** What the page of the devices shows. */
export interface DevicesView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  /** `undefined` while the container is stopped: looking does not wake it. */
  list: AccessList | undefined;
  now: number;
}

/** The page of `/_admin/devices`. */
export function devicesPage({ visitor, flash, status, list, now }: DevicesView): Markup {
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

/** Who waits for approval, with buttons, and which browsers have it. */
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
