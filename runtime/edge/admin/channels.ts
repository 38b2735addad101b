import type { Handler } from "hono";
import { html } from "hono/html";
import type { ChannelHealth, GatewayStatus, ModelHealth, SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { adminFrame, htmlPage, type Visitor } from "../pages/admin-frame.ts";
import { age, moment } from "../pages/age.ts";
import { reasonBox, repairLink, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import type { Clock, Sandbox } from "../ports.ts";

/** A state by colour, and as people read it. */
const CHANNEL_STATES: Record<ChannelHealth["state"], [tone: string, words: string]> = {
  ready: ["ok", "Ready"],
  failing: ["bad", "Failing"],
  disabled: ["wait", "Switched off"],
};
const MODEL_STATES: Record<ModelHealth["state"], [tone: string, words: string]> = {
  ready: ["ok", "Ready"],
  unknown: ["wait", "Not asked yet"],
  cooling: ["wait", "Left alone for a while after it failed"],
  failing: ["bad", "Failing"],
};

/** `GET /_admin/channels`: how chat platforms and models stand, as the gateway sees them; wakes nothing. */
export function showChannels(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleChannels(context) {
    const [status, details] = await Promise.all([sandbox.status(), gatewayDetails(sandbox)]);
    const visitor = { identity: context.get("identity"), signsOut };
    return htmlPage(context, channelsPage({ visitor, status, details, now: clock() }));
  };
}

/** Content of the page of the channels. */
interface ChannelsView {
  visitor: Visitor;
  status: SandboxStatus;
  /** Told by the gateway itself; `undefined` while it is not ready. */
  details: GatewayStatus | undefined;
  now: number;
}

/** The page of `/_admin/channels`. */
function channelsPage({ visitor, status, details, now }: ChannelsView): Markup {
  return adminFrame(
    { title: "Channels", visitor },
    details === undefined ? downPart(status) : detailsPart(details, now),
  );
}

function downPart(status: SandboxStatus): Markup {
  return html`${stateLine(status)} ${reasonBox(status.reason)} ${repairLink(status.reason)}
    <p class="soft">How channels and models stand is known once the gateway is up.</p>`;
}

function detailsPart({ channels, models }: GatewayStatus, now: number): Markup {
  const none = html`<p class="soft">
    None is configured: <a href="${ROUTES.configEdit.path}">add one to the config</a>.
  </p>`;
  return html`<h2>Chat platforms</h2>
    ${channels.length === 0 ? none : ""}
    <ul class="cards">
      ${channels.map((one) => channelCard(one, now))}
    </ul>
    <h2>Models</h2>
    <p>In the order in which they are asked.</p>
    <ul class="cards">
      ${models.map(modelCard)}
    </ul>`;
}

function channelCard({ platform, state, reason, lastEventAt, polledAt }: ChannelHealth, now: number): Markup {
  const [tone, words] = CHANNEL_STATES[state];
  return html`<li>
    <h3>${platform}</h3>
    <p class="state ${tone}">${words}</p>
    ${reasonBox(reason)}
    <dl>
      <dt>Last event</dt>
      <dd>${lastEventAt === undefined ? "none since the start" : age(Date.parse(lastEventAt), now)}</dd>
      ${
        polledAt === undefined
          ? ""
          : html`<dt>Last poll that was answered</dt>
              <dd>${age(Date.parse(polledAt), now)}</dd>`
      }
    </dl>
  </li>`;
}

function modelCard({ id, state, until, reason }: ModelHealth): Markup {
  const [tone, words] = MODEL_STATES[state];
  const left = until === undefined ? "" : html`, until ${moment(until)}`;
  return html`<li>
    <h3>${id}</h3>
    <p class="state ${tone}">${words}${left}</p>
    ${reasonBox(reason)}
  </li>`;
}
