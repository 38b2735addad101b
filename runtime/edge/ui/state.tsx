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

/**
 * A line that tells the gateway's state by colour and by word. `overall`: the state of the whole deployment, if known,
 * so that the line never contradicts the header.
 */
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

/** A reason to show; nothing is shown if there is none. */
interface ReasonProps {
  reason: Reason | undefined;
}

/** A box with what went wrong and what to do. */
export function ReasonBox({ reason }: ReasonProps): Markup | null {
  if (reason === undefined) return null;
  return (
    <aside>
      <ReasonText reason={reason} />
    </aside>
  );
}

/** Failure of an action that somebody just asked for. Screen readers announce it. A field may name its id. */
export function AlertBox({ reason }: ReasonProps): Markup | null {
  if (reason === undefined) return null;
  return (
    <div role="alert" id="reason">
      <ReasonBox reason={reason} />
    </div>
  );
}

/** The gateway's state, and why a page lacks what the container knows. */
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
  /** Sentence in place of the content while nothing is known. */
  unknown: string;
  show(value: T): Markup;
  /** Precedes the content. */
  children?: Child;
}

/** The gateway's state, and content that the container's answer makes, or why there is none. */
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

/** Content of a page about a gateway that has not run yet; `children` says what is missing. */
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
  return <LinkLine href={`${ROUTES.configPage.path}#repairs`}>Repair the configuration</LinkLine>;
}

/** The page of `/` while the gateway is ready. */
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
