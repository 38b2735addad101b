import type { GrantedRole } from "../../contract/config/rights.ts";
import { platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { readField, readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import { SHORT_ID } from "../../shared/devices.ts";
import { isRecord } from "../../shared/json.ts";
import { devices } from "../../operations/devices.ts";
import type { Operation } from "../../operations/operation.ts";
import { pairing } from "../../operations/pairing.ts";
import { operate, commandTimeout } from "../operate.ts";
import { adminPage } from "../ui/console.tsx";
import { Age, ageColumn } from "../ui/time.tsx";
import { ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { type AccessList, type DeviceRequest, readAccessList, type SenderRequest } from "./access-list.ts";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";
import { ActionButton } from "../ui/form.tsx";
import { type ListingQuery, listingQuery, ListTable } from "../ui/listing.tsx";
import { Id, nameOf, type Names, Person, personColumn, platformOf } from "../ui/person.tsx";
import { Facts } from "../ui/table.tsx";
import { offerUndo, type Removal } from "./undo.ts";

/** Timeout of {@link readAccessList} in milliseconds, longer than its own limit of 10 s. */
const LISTS_MS = 11_000;

const PEOPLE = 30;

/** Maximum number of requests shown. `BROWSERS` of them are reserved for browsers, whose requests expire soonest. */
const REQUESTS = 6;
const BROWSERS = 2;

/** Copy of the roles in the config schema, because a Worker does not load that schema at startup. */
const ROLES: readonly GrantedRole[] = ["person", "operator"];
const PLATFORMS = platformSchema.options.join("|");
/**
 * Request in a form: `<platform>:<code>` or `device:<request id>`, with `:operator` to grant an operator's rights.
 */
const REQUEST = new RegExp(`^(?:(?:${PLATFORMS}):[A-Z]{8}|device:[0-9a-f-]{36})(?::operator)?$`);
/** `<platform>:<user id>:<role>` or `device:<device id>:<role>`. */
const GRANT = new RegExp(`^(?:(?:${PLATFORMS}):[\\w.-]{1,128}|device:[0-9a-f]{64}):(?:${ROLES.join("|")})$`);
const DEVICE = /^[0-9a-f]{64}$/;
/** `<platform>:<user id>` */
const PERSON = new RegExp(`^(?:${PLATFORMS}):[\\w.:-]{1,128}$`);

/**
 * `GET /_admin/devices?q=&range=&sort=&page=`: pending requests, and people and browsers with access. Does not wake the
 * container.
 */
export async function showDevices(context: PageContext, options: AdminOptions): Promise<Response> {
  const query = readQuery(context, listingQuery());
  const visitor = await context.get("visitor")();
  const { status } = visitor.facts;
  const { value: list, asOf } = await knownAccess(options, visitor);
  const now = options.clock();
  const names = await namesOf(options.directory, [
    ...waitingKeys(list),
    ...(list?.people ?? []).map(({ platform, sender }) => `${platform}:${sender}`),
    ...(list?.devices ?? []).map(({ deviceId }) => `web:${deviceId}`),
  ]);
  const content = (
    <>
      {list === undefined ? (
        <>
          <StateLine status={status} />
          <ReasonBox reason={status.reason} />
          <p class="soft">The list is available once the container has run.</p>
        </>
      ) : (
        <>
          {waitingPart(list, names, now)}
          {approvedPart(list, names, query, now)}
        </>
      )}
      {commandLinePart()}
    </>
  );
  return adminPage(context, { title: "Access", asOf, waits: true }, content);
}

/**
 * Returns people and browsers with access, and pending requests. If the container does not answer, returns the last
 * stored list.
 */
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
 * `POST /_admin/devices/approve` and `…/reject`, with one or more fields `request`. Settles exactly the requests that
 * the page showed. An approval grants the role `person`, unless the field ends with `:operator`.
 */
export async function settleRequests(
  context: PageContext,
  options: AdminOptions,
  verb: "approve" | "reject",
): Promise<Response> {
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
}

/** `POST /_admin/devices/grant`, field `grant`: changes the role of an approved person or browser. */
export async function grantRole(context: PageContext, options: AdminOptions): Promise<Response> {
  const grants = await readField(context.req.raw, "grant", GRANT);
  const changes = grants.map((grant): Change => {
    const [kind = "", id = "", role = ""] = grant.split(":");
    return kind === "device"
      ? { operation: devices.grant, input: { deviceId: id, role } }
      : { operation: pairing.grant, input: { channel: kind, sender: id, role } };
  });
  return changeAll(context, options, changes, "granted");
}

export async function revokeDevice(context: PageContext, options: AdminOptions): Promise<Response> {
  const ids = await readField(context.req.raw, "device", DEVICE);
  const changes = ids.map((deviceId): Change => ({ operation: devices.revoke, input: { deviceId } }));
  return changeAll(context, options, changes, "revoked");
}

/**
 * `POST /_admin/devices/revoke-person`, field `person`, in the format `<platform>:<user id>`: revokes a person's
 * access.
 */
export async function revokePerson(context: PageContext, options: AdminOptions): Promise<Response> {
  const people = await readField(context.req.raw, "person", PERSON);
  const changes = people.map((person): Change => {
    const [channel = "", ...id] = person.split(":");
    return { operation: pairing.revoke, input: { channel, sender: id.join(":") } };
  });
  return changeAll(context, options, changes, "removed");
}

interface Change {
  operation: Operation;
  input: object;
}

/** Makes changes one by one and reports the first failure. Continues after a failure, but not after a timeout. */
async function changeAll(
  context: PageContext,
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
    log.info("operator changes access", { by, command });
    try {
      const result = await commandTimeout(
        Math.max(0, deadline - clock()),
        operate(sandbox, operation, input),
      );
      removals.push({ detail: command, result });
      await record(by, verb, [group, ...recordedArguments(values, result)].join(" "));
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

/** Returns a change's arguments for the activity log. Replaces a request's short-lived code with the person's id. */
function recordedArguments(values: readonly string[], result: unknown): readonly string[] {
  const { approved, rejected: sender = approved } = result as { approved?: unknown; rejected?: unknown };
  const id = isRecord(sender) ? sender["deviceId"] : sender;
  if (typeof id !== "string") return values;
  return isRecord(sender) ? [id, ...values.slice(1)] : [values[0] ?? "", id, ...values.slice(2)];
}

export function waitingKeys(list: AccessList | undefined): string[] {
  return (list?.senders ?? []).map(({ platform, sender }) => `${platform}:${sender}`);
}

/** Renders the oldest requests for approval, and the total number of requests. */
export function waitingPart({ problem, ...all }: AccessList, names: Names, now: number): Markup {
  const count = all.senders.length + all.requests.length;
  const requests = longest(all.requests).slice(0, Math.max(BROWSERS, REQUESTS - all.senders.length));
  const senders = longest(all.senders).slice(0, REQUESTS - requests.length);
  const shown = [
    ...senders.map((one) => `${one.platform}:${one.code}`),
    ...requests.map((one) => `device:${one.requestId}`),
  ];
  const more = count - shown.length;
  const isOpen = problem !== undefined;
  return (
    <>
      <ReasonBox reason={problem} />
      <h2>
        Waiting for approval ({count}
        {isOpen ? " known" : ""})
      </h2>
      {count === 0 && <p class="soft">{isOpen ? "None known." : "Nobody is waiting."}</p>}
      <ul class="cards">
        {senders.map((one) => senderCard(one, names, now, isOpen))}{" "}
        {requests.map((one) => requestCard(one, now))}
      </ul>
      {more > 0 && <p>{more} more are waiting and appear once these are approved or rejected.</p>}
      {shown.length > 1 ? approveAllForm(shown, more > 0 ? "these" : "all") : ""}
    </>
  );
}

function longest<Request extends { askedAt: number }>(requests: readonly Request[]): Request[] {
  return requests.toSorted((a, b) => a.askedAt - b.askedAt);
}

interface Holder {
  id: string;
  name?: string;
  role: GrantedRole | "revoked";
  /** Milliseconds since the epoch, if known. */
  approvedAt?: number;
}

function approvedPart(list: AccessList, names: Names, query: ListingQuery, now: number): Markup {
  const { devices, people, problem } = list;
  const rows: Holder[] = [
    ...people.map(({ platform, sender, role }): Holder => ({ id: `${platform}:${sender}`, role })),
    ...devices
      .toSorted((a, b) => Number(a.revoked) - Number(b.revoked))
      .map(({ deviceId, name, approvedAt, revoked, role }) => ({
        id: `web:${deviceId}`,
        name: name === "" ? "A browser" : name,
        approvedAt,
        role: revoked ? ("revoked" as const) : role,
      })),
  ];
  const called = ({ id, name }: Holder) => ({ id, entry: names.get(id), otherwise: name });
  const since = ({ id, approvedAt }: Holder) => approvedAt ?? Date.parse(names.get(id)?.firstSeenAt ?? "");
  const seen = ({ id, approvedAt = 0 }: Holder) => Date.parse(names.get(id)?.lastSeenAt ?? "") || approvedAt;
  return (
    <>
      <h2>
        People ({people.length}), browsers ({devices.length})
      </h2>
      {people.length === 0 && (
        <p class="soft">
          {problem === undefined ? "Nobody has been approved yet." : "None known."} People in the config's{" "}
          <code>allowFrom</code> need no approval.
        </p>
      )}
      {rows.length > 0 && (
        <ListTable
          path={ROUTES.devicesPage.path}
          query={query}
          now={now}
          rows={rows}
          read={(row) => ({ text: `${nameOf(called(row))} ${row.id}`, at: seen(row) })}
          label="People and browsers"
          most={PEOPLE}
          columns={[
            personColumn("Name", called),
            { head: "Platform", by: ({ id }) => platformOf(id) },
            { head: "Rights", by: ({ role }) => role },
            ageColumn("Since", now, since),
            ageColumn("Last seen", now, seen),
            { head: "Action", kind: "action", cell: holderForms },
          ]}
        />
      )}
    </>
  );
}

function holderForms({ id, role }: Holder): Markup | null {
  if (role === "revoked") return null;
  const [platform, value = ""] = id.split(/:(.*)/s);
  const isBrowser = platform === "web";
  const named = isBrowser ? value.slice(0, SHORT_ID) : `${platform} ${value}`;
  const [other, verb] = role === "person" ? ["operator", "Make operator"] : ["person", "Make person"];
  const who = isBrowser ? `device:${value}` : id;
  return (
    <div class="actions">
      {postForm(ROUTES.accessGrant.path, "grant", [`${who}:${other}`], verb, named)}
      {isBrowser
        ? postForm(ROUTES.devicesRevoke.path, "device", [value], "Revoke", named)
        : postForm(ROUTES.peopleRevoke.path, "person", [id], "Revoke", named)}
    </div>
  );
}

function senderCard(request: SenderRequest, names: Names, now: number, isOpen: boolean): Markup {
  const { platform, code, sender, name, askedAt } = request;
  const id = `${platform}:${sender}`;
  const words = `pairing approve ${platform} ${code}`;
  return (
    <li>
      <h3>
        <Person id={id} entry={names.get(id)} otherwise={name} />
      </h3>
      <Facts
        facts={[
          ["Platform", platformOf(id)],
          ["Code", <code>{code}</code>],
          ["Sender", <Id id={sender} />],
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
    // The waiting browser's page links to this element.
    <li id={`request-${requestId.slice(0, 12)}`}>
      <h3>
        <bdi>{name === "" ? "A browser" : name}</bdi>
      </h3>
      <Facts
        facts={[
          ["Platform", platformOf("web")],
          ["Request", <Id id={requestId} />],
          ["Address", address],
          ["Asked", <Age at={askedAt} now={now} />],
        ]}
      />
      {settleForms(`device:${requestId}`, `device ${requestId.slice(0, 12)}`)}
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

/** Renders a button that approves exactly the requests on the page, so that nobody approves unseen ones. */
function approveAllForm(requests: readonly string[], which: "all" | "these"): Markup {
  const label = `Approve ${which} ${requests.length} as persons`;
  return postForm(ROUTES.devicesApprove.path, "request", requests, label, "requests shown here");
}

const STYLES: Readonly<Record<string, string>> = {
  "Approve as person": "primary",
  "Make operator": "quiet",
  "Make person": "quiet",
  Reject: "danger",
  Revoke: "danger quiet",
};

function postForm(action: string, field: string, values: readonly string[], verb: string, what: string) {
  const fields = values.map((value) => [field, value] as const);
  return (
    <ActionButton action={action} fields={fields} tone={STYLES[verb] ?? ""} label={`${verb} ${what}`}>
      {verb}
    </ActionButton>
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
