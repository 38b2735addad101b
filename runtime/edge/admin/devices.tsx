import type { Context, Handler } from "hono";
import type { SandboxStatus } from "../../contract/control.ts";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readField } from "../form.ts";
import { devices } from "../../operations/devices.ts";
import type { Operation } from "../../operations/operation.ts";
import { pairing } from "../../operations/pairing.ts";
import { operate, inTime } from "../operate.ts";
import { adminPage } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import { ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import {
  type AccessList,
  type Device,
  type DeviceRequest,
  type Person,
  readAccessList,
  type SenderRequest,
} from "./access-list.ts";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { offerUndo, type Removal } from "./undo.ts";
import { PlainTable, Facts } from "../ui/table.tsx";

/** The lists come within 10 s, whole or not. */
const LISTS_MS = 11_000;

/** Not the list of the config's schema, which a Worker does not load at its start. */
const ROLES: readonly GrantedRole[] = ["person", "operator"];
const PLATFORMS = platformSchema.options.join("|");
/** `<platform>:<code>` or `device:<request id>`; with `:operator` for an operator's rights. */
const REQUEST = new RegExp(`^(?:(?:${PLATFORMS}):[A-Z]{8}|device:[0-9a-f-]{36})(?::operator)?$`);
/** `<platform>:<user id>:<role>` or `device:<device id>:<role>`. */
const GRANT = new RegExp(`^(?:(?:${PLATFORMS}):[\\w.-]{1,128}|device:[0-9a-f]{64}):(?:${ROLES.join("|")})$`);
const DEVICE = /^[0-9a-f]{64}$/;
/** `<platform>:<user id>` */
const PERSON = new RegExp(`^(?:${PLATFORMS}):[\\w.:-]{1,128}$`);

/** `GET /_admin/devices`: who waits for approval and which devices have it; wakes nothing. */
export function showDevices(options: AdminOptions): Handler<AccessVariables> {
  return async function handleDevices(context) {
    const visitor = await context.get("visitor")();
    const { value: list, asOf } = await knownAccess(options, visitor);
    const now = options.clock();
    const content = (
      <>
        {list === undefined ? (
          stoppedPart(visitor.facts.status)
        ) : (
          <>
            {waitingPart(list, now)} {approvedPart(list, now)}
          </>
        )}
        {commandLinePart()}
      </>
    );
    return adminPage(context, { title: "Access", asOf, waits: true }, content);
  };
}

/** Returns who has access and who asks for it, as of the last answer where the container gives none. */
export async function knownAccess(
  { sandbox, answers, clock }: AdminOptions,
  visitor: Visitor,
  limitMs = LISTS_MS,
): Promise<Answer<AccessList>> {
  const isWhole = ({ problem }: AccessList) => problem === undefined;
  const ask = () => readAccessList(sandbox, clock);
  return askOrRecall(answers, visitor, "access", ask, { limitMs, isWhole });
}

/**
 * `POST /_admin/devices/approve` and `…/reject`, field `request`, several times to settle several: exactly
 * those that the page showed, and none that came since. An approval grants a person's rights, or what its request names.
 */
export function settleRequests(verb: "approve" | "reject", options: AdminOptions): Handler<AccessVariables> {
  return async function handleSettle(context) {
    const requests = await readField(context.req.raw, "request", REQUEST);
    const roles = requests.map((request) => request.split(":")[2]);
    if (verb === "reject" && roles.some((role) => role !== undefined)) throw new StewardError("form_invalid");
    const changes = requests.map((request): Change => {
      const [kind = "", id = "", role] = request.split(":");
      const given = role === undefined ? {} : { operator: true };
      return kind === "device"
        ? { operation: devices[verb], input: { requestId: id, ...given } }
        : { operation: pairing[verb], input: { channel: kind, code: id, ...given } };
    });
    const approved = roles.every((role) => role === "operator") ? "approvedOperator" : "approved";
    return changeAll(context, options, changes, verb === "approve" ? approved : "rejected");
  };
}

/** `POST /_admin/devices/grant`, field `grant`: gives an approved person or browser another role. */
export function grantRole(options: AdminOptions): Handler<AccessVariables> {
  return async function handleGrant(context) {
    const grants = await readField(context.req.raw, "grant", GRANT);
    const changes = grants.map((grant): Change => {
      const [kind = "", id = "", role = ""] = grant.split(":");
      return kind === "device"
        ? { operation: devices.grant, input: { deviceId: id, role } }
        : { operation: pairing.grant, input: { channel: kind, sender: id, role } };
    });
    return changeAll(context, options, changes, "granted");
  };
}

/** `POST /_admin/devices/revoke`, field `device`. */
export function revokeDevice(options: AdminOptions): Handler<AccessVariables> {
  return async function handleRevoke(context) {
    const ids = await readField(context.req.raw, "device", DEVICE);
    const changes = ids.map((deviceId): Change => ({ operation: devices.revoke, input: { deviceId } }));
    return changeAll(context, options, changes, "revoked");
  };
}

/** `POST /_admin/devices/revoke-person`, field `person`: `<platform>:<user id>`. */
export function revokePerson(options: AdminOptions): Handler<AccessVariables> {
  return async function handleRevokePerson(context) {
    const people = await readField(context.req.raw, "person", PERSON);
    const changes = people.map((person): Change => {
      const [channel = "", ...id] = person.split(":");
      return { operation: pairing.revoke, input: { channel, sender: id.join(":") } };
    });
    return changeAll(context, options, changes, "removed");
  };
}

/** A change of who has access. */
interface Change {
  operation: Operation;
  input: object;
}

/** Makes changes one after another. The first failure is reported; the page shows what is still open. */
async function changeAll(
  context: Context<AccessVariables>,
  options: AdminOptions,
  changes: readonly Change[],
  done: Done,
): Promise<Response> {
  const { sandbox, clock, log, record } = options;
  const by = context.get("identity").name;
  const removals: Removal[] = [];
  const deadline = clock() + LIMIT_MS;
  let problem: StewardError | undefined;
  for (const { operation, input } of changes) {
    const [group = "", verb = ""] = operation.name.split(" ");
    const values = Object.entries(input).map(([name, value]) => (value === true ? `--${name}` : value));
    const command = [group, verb, ...values].join(" ");
    log.info("operator settles access", { by, command });
    try {
      const result = await inTime(Math.max(0, deadline - clock()), operate(sandbox, operation, input));
      removals.push({ detail: command, result });
      await record(by, verb, [group, ...values].join(" "));
    } catch (error) {
      const failure = error instanceof StewardError ? error : new StewardError("command_failed");
      log.warn("operator's command failed", { by, command, code: failure.code });
      problem ??= failure;
      if (failure.code === "command_timed_out") break;
    }
  }
  if (problem === undefined) await offerUndo(context, options, done, removals);
  return goTo(context, ROUTES.devicesPage, done, problem);
}

function stoppedPart(status: SandboxStatus): Markup {
  return (
    <>
      <StateLine status={status} />
      <ReasonBox reason={status.reason} />
      <p class="soft">The list is available once the container has run.</p>
    </>
  );
}

/** Renders who waits for approval, with buttons. */
export function waitingPart({ senders, requests, problem }: AccessList, now: number): Markup {
  const waiting = [
    ...senders.map((one) => `${one.platform}:${one.code}`),
    ...requests.map((one) => `device:${one.requestId}`),
  ];
  const isOpen = problem !== undefined;
  return (
    <>
      <ReasonBox reason={problem} />
      <h2>
        Waiting for approval ({waiting.length}
        {isOpen ? " known" : ""})
      </h2>
      {waiting.length === 0 ? <p class="soft">{isOpen ? "None known." : "Nobody is waiting."}</p> : ""}
      <ul class="cards">
        {senders.map((one) => senderCard(one, now, isOpen))} {requests.map((one) => requestCard(one, now))}
      </ul>
      {waiting.length > 1 ? approveAllForm(waiting) : ""}
    </>
  );
}

/** Renders the people and browsers that have access, each with its button. */
function approvedPart({ devices, people, problem }: AccessList, now: number): Markup {
  const isOpen = problem !== undefined;
  return (
    <>
      <h2>People ({people.length})</h2>
      {people.length === 0 ? (
        <p class="soft">
          Nobody was approved yet. People in the config's <code>allowFrom</code> need none.
        </p>
      ) : (
        peopleTable(people)
      )}
      <h2>Browsers ({devices.length})</h2>
      {devices.length === 0 ? <p class="soft">{isOpen ? "None known." : "No browser is paired."}</p> : ""}
      <ul class="cards">{devices.map((one) => deviceCard(one, now))}</ul>
    </>
  );
}

function peopleTable(people: readonly Person[]): Markup {
  return (
    <PlainTable
      label="People"
      columns={["Platform", "User id", "Rights", "Action"]}
      rows={people.map(({ platform, sender, role }) => (
        <tr>
          <td>{platform}</td>
          <th scope="row">
            <code>{sender}</code>
          </th>
          <td>{role}</td>
          <td>
            {grantForm(`${platform}:${sender}`, role, `${platform} ${sender}`)}
            {postForm(
              ROUTES.peopleRevoke.path,
              "person",
              [`${platform}:${sender}`],
              "Revoke",
              `${platform} ${sender}`,
            )}
          </td>
        </tr>
      ))}
    />
  );
}

function senderCard({ platform, code, sender, name, askedAt }: SenderRequest, now: number, isOpen: boolean) {
  const words = `pairing approve ${platform} ${code}`;
  return (
    <li>
      <h3>{name === "" ? sender : name}</h3>
      <Facts
        facts={[
          ["Platform", platform],
          ["Code", <code>{code}</code>],
          ["Sender", sender],
          ["Asked", <Age at={askedAt} now={now} />],
        ]}
      />
      {settleForms(`${platform}:${code}`, `${platform} ${code}`)}
      <details open={isOpen}>
        <summary>By command</summary>
        <p>
          <code>steward {words}</code>
        </p>
        <p>
          <code>/debug/cli?cmd={words}</code>
        </p>
      </details>
    </li>
  );
}

function requestCard({ requestId, name, address, askedAt }: DeviceRequest, now: number): Markup {
  return (
    // The page that waits for this approval links to it.
    <li id={`request-${requestId.slice(0, 12)}`}>
      <h3>{name === "" ? "A browser" : name}</h3>
      <Facts
        facts={[
          ["Platform", "web chat"],
          ["Request", <code>{requestId}</code>],
          ["Address", address],
          ["Asked", <Age at={askedAt} now={now} />],
        ]}
      />
      {settleForms(`device:${requestId}`, `device ${requestId.slice(0, 12)}`)}
    </li>
  );
}

function deviceCard({ deviceId, name, approvedAt, revoked, role }: Device, now: number): Markup {
  return (
    <li>
      <h3>{name === "" ? "A browser" : name}</h3>
      <Facts
        facts={[
          ["Device", <code>{deviceId.slice(0, 12)}</code>],
          ["Approved", <Age at={approvedAt} now={now} />],
          ["State", revoked ? "revoked" : "approved"],
          ["Rights", revoked ? "none" : role],
        ]}
      />
      {revoked ? "" : grantForm(`device:${deviceId}`, role, deviceId.slice(0, 12))}
      {revoked
        ? ""
        : postForm(ROUTES.devicesRevoke.path, "device", [deviceId], "Revoke", deviceId.slice(0, 12))}
    </li>
  );
}

function settleForms(request: string, named: string): Markup {
  return (
    <div class="actions">
      {postForm(ROUTES.devicesApprove.path, "request", [request], "Approve as person", named)}
      {postForm(ROUTES.devicesApprove.path, "request", [`${request}:operator`], "Approve as operator", named)}
      {postForm(ROUTES.devicesReject.path, "request", [request], "Reject", named)}
    </div>
  );
}

/** The button that gives the other role. */
function grantForm(who: string, role: GrantedRole, named: string): Markup {
  const [other, verb] = role === "person" ? ["operator", "Make operator"] : ["person", "Make person"];
  return postForm(ROUTES.accessGrant.path, "grant", [`${who}:${other}`], verb, named);
}

/** It lists those that are shown, so that no one unseen is let in. */
function approveAllForm(requests: readonly string[]): Markup {
  const label = `Approve all ${requests.length} as persons`;
  return postForm(ROUTES.devicesApprove.path, "request", requests, label, "requests shown here");
}

/** Classes of a button by its verb. */
const STYLES: Readonly<Record<string, string>> = {
  "Approve as person": "primary",
  Reject: "danger",
  Revoke: "danger",
};

function postForm(action: string, field: string, values: readonly string[], verb: string, what: string) {
  return (
    <form method="post" action={action}>
      {values.map((value) => (
        <input type="hidden" name={field} value={value} />
      ))}
      <button type="submit" class={STYLES[verb] ?? ""} aria-label={`${verb} ${what}`}>
        {verb}
      </button>
    </form>
  );
}

function commandLinePart(): Markup {
  return (
    <>
      <h2>By command</h2>
      <p>
        <code>steward pairing approve slack &lt;code&gt;</code> in the container, or{" "}
        <code>/debug/cli?cmd=pairing approve slack &lt;code&gt;</code> here. Likewise{" "}
        <code>pairing list</code>, <code>devices list</code> and <code>devices approve &lt;request&gt;</code>.
      </p>
    </>
  );
}
