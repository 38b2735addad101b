import type { Child } from "hono/jsx";
import type { Reason } from "../../contract/errors.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import type { Attempt } from "../operate.ts";
import { sandboxFault, type Overall } from "../health.ts";
import { Document, LinkLine, type Markup } from "./document.tsx";

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

/** Shows the gateway's state. A ready gateway is shown as bad if it has a fault or `overall` is `Down`. */
export function StateLine({ status, overall }: { status: SandboxStatus; overall?: Overall }): Markup {
  const { state } = status;
  const isMute = state === "ready" && (overall === "Down" || sandboxFault(status) !== undefined);
  const [tone, headline] = isMute ? ["bad", MUTE] : [TONES[state], HEADLINES[state]];
  return (
    <p class={`state ${tone}`} role="status">
      {headline}
    </p>
  );
}

interface ReasonProps {
  reason: Reason | undefined;
}

export function ReasonBox({ reason }: ReasonProps): Markup | null {
  if (reason === undefined) return null;
  return (
    <aside>
      <ReasonText reason={reason} />
    </aside>
  );
}

/** Shows why the requested action failed. Screen readers announce the box. */
export function AlertBox({ reason }: ReasonProps): Markup | null {
  if (reason === undefined) return null;
  return (
    <div role="alert" id="reason">
      <ReasonBox reason={reason} />
    </div>
  );
}

export function GatewayState({ visitor, reason }: ReasonProps & { visitor: Visitor }): Markup {
  return (
    <>
      <StateLine status={visitor.facts.status} overall={visitor.health.overall} />
      <ReasonBox reason={reason} />
    </>
  );
}

interface AnswerProps<T> {
  visitor: Visitor;
  answer: { value?: T | undefined } & Attempt<unknown>;
  unknown: string;
  show(value: T): Markup;
  children?: Child;
}

export function ContainerAnswer<T>(props: AnswerProps<T>): Markup {
  const { value, problem } = props.answer;
  return (
    <>
      <GatewayState visitor={props.visitor} reason={problem} />
      {props.children}
      {value === undefined ? <p class="soft">{props.unknown}</p> : props.show(value)}
    </>
  );
}

/** Renders a placeholder until the gateway has run for the first time. `children` explains what is missing. */
export function Unreached(props: ReasonProps & { status: SandboxStatus; children: string }): Markup {
  const { status, reason, children } = props;
  return (
    <>
      <StateLine status={status} />
      <ReasonBox reason={reason} />
      <RepairLink reason={status.reason} />
      <p class="soft">{children}</p>
    </>
  );
}

/** A text in which backticks enclose code. */
export function Prose({ text }: { text: string }): Markup {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** Renders a problem and its fix without a box. */
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

/** Links to the page that repairs an invalid config. */
export function RepairLink({ reason }: ReasonProps): Markup | null {
  if (reason?.code !== "config_invalid") return null;
  return <LinkLine href={`${ROUTES.configPage.path}#repairs`}>Repair the configuration</LinkLine>;
}

/** Renders the page at `/` while the gateway is ready. */
export function HomePage({ status }: { status: SandboxStatus }): Markup {
  return (
    <Document title="steward">
      <h1>steward</h1>
      <p class="soft">An assistant gateway: chat platforms on one side, a model provider on the other.</p>
      <StateLine status={status} />
      <LinkLine href={ROUTES.admin.path}>Administration</LinkLine>
    </Document>
  );
}
