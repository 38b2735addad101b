import type { Reason } from "../../contract/errors.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { faultOf, type Overall } from "../health.ts";
import { Document, type Markup } from "./document.tsx";

const HEADLINES: Record<SandboxStatus["state"], string> = {
  ready: "The gateway is up",
  starting: "The gateway is starting",
  stopped: "The gateway is asleep; a message wakes it",
  "crash-looping": "The gateway cannot start",
};

const MUTE = "The gateway runs, but nobody gets an answer";

const TONES: Record<SandboxStatus["state"], string> = {
  ready: "ok",
  starting: "wait",
  stopped: "wait",
  "crash-looping": "bad",
};

/** Properties of {@link StateLine}. */
interface StateLineProps {
  status: SandboxStatus;
  /** State of the whole deployment, if known: the line never contradicts the header. */
  overall?: Overall;
}

/** A line that tells the gateway's state by colour and by word. */
export function StateLine({ status, overall }: StateLineProps): Markup {
  const { state } = status;
  const isMute = state === "ready" && (overall === "Down" || faultOf(status) !== undefined);
  const [tone, headline] = isMute ? ["bad", MUTE] : [TONES[state], HEADLINES[state]];
  return (
    <p class={`state ${tone}`} role="status">
      {headline}
    </p>
  );
}

/** Properties of the components that show a reason, and nothing if there is none. */
interface ReasonProps {
  reason: Reason | undefined;
}

/** A box with what went wrong and what to do. */
export function ReasonBox({ reason }: ReasonProps): Markup | null {
  return (
    (reason && (
      <aside>
        <ReasonText reason={reason} />
      </aside>
    )) ??
    null
  );
}

/** Failure of an action that somebody just asked for. Screen readers announce it. A field may name its id. */
export function AlertBox({ reason }: ReasonProps): Markup | null {
  return (
    (reason && (
      <div role="alert" id="reason">
        <ReasonBox reason={reason} />
      </div>
    )) ??
    null
  );
}

/** A text whose parts between backticks are code. */
export function Prose({ text }: { text: string }): Markup {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** A reason and its fix without a box of its own. A detail may have several lines. */
export function ReasonText({ reason: { code, detail, fix } }: { reason: Reason }): Markup {
  return (
    <>
      <p class="lines">
        <code>{code}</code>: <Prose text={detail} />
      </p>
      <p>
        <strong>Fix:</strong> <Prose text={fix} />
      </p>
    </>
  );
}

/** A link to the repairs of an invalid config; it leads through the sign-in. */
export function RepairLink({ reason }: ReasonProps): Markup | null {
  if (reason?.code !== "config_invalid") return null;
  return (
    <p>
      <a href={`${ROUTES.configPage.path}#repairs`}>Repair the configuration</a>
    </p>
  );
}

/** The page of `/` while the gateway is ready. */
export function HomePage({ status }: { status: SandboxStatus }): Markup {
  return (
    <Document title="steward">
      <h1>steward</h1>
      <p class="soft">An assistant gateway: chat platforms on one side, a model provider on the other.</p>
      <StateLine status={status} />
      <p>
        <a href={ROUTES.admin.path}>Administration</a>
      </p>
    </Document>
  );
}
