import { expect, onTestFinished, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { type Approvals, approvalsForm } from "../../../runtime/contract/tenant.ts";
import { TenantReception } from "../../../runtime/edge/tenants/reception.ts";
import { slackEvent } from "../../support/edge.ts";
import { LedgerStage, silent } from "../support/ledger.ts";

const MINUTE_MS = 60_000;
const NOBODY = { requests: [], approved: [], operators: [] };

/** A reception, the lists of the sandbox that served every chat, and what was said and stored. */
function stage(slack: object = {}, since: string | undefined = "2026-11-20T10:00:00Z") {
  const ledger = new LedgerStage();
  onTestFinished(() => ledger.close());
  const notes = new Map<string, string>();
  const [said, stored, woken]: [string[], Approvals[], number[]] = [[], [], []];
  const changed: string[] = [];
  /** Calls of tenants' objects that are lost. */
  const lost = { calls: 0 };
  const former = { channel: "slack", ...NOBODY, ...slack };
  const others = [
    { channel: "telegram", ...NOBODY },
    { channel: "discord", ...NOBODY },
  ];
  const sandbox = {
    request: async (_: string, { path, body = "" }: { path: string; body?: string }) =>
      path === "/operations"
        ? Response.json({
            ok: true,
            value: body.includes("devices list")
              ? { pending: [], paired: [] }
              : { channels: [former, ...others] },
          })
        : Response.json({ broughtBack: { approvals: stored.at(-1)?.version } }),
  };
  const reception = new TenantReception({
    sql: ledger.sql,
    notes: { read: (name) => notes.get(name), write: (name, value) => void notes.set(name, value) },
    environment: { SLACK_BOT_TOKEN: "xoxb-1" },
    readConfig: async () => undefined,
    sandbox: sandbox as never,
    servedAllSince: async () => since,
    storeApprovals: async (approvals) => void stored.push(approvalsForm.parse(structuredClone(approvals))),
    changeRights: async (tenant, { role }) => {
      if (lost.calls-- > 0) throw new Error("the object is lost");
      changed.push(`${tenant} ${role}`);
    },
    changeBrowser: async () => {},
    wakeAt: (time) => void woken.push(time),
    fetch: async (_, init) => {
      said.push(String((JSON.parse(String(init?.body)) as { text: string }).text));
      return Response.json({ ok: true });
    },
    clock: () => ledger.now,
    log: silent,
  });
  const write = (user: string) => {
    const event = { channel: `D${user}`, channel_type: "im", user };
    const payload = slackEvent(`Ev${user}`, event);
    const delivery: Delivery = { id: "1", platform: "slack", conversation: "c", receivedAt: 0, payload };
    return reception.introduce(`slack-D${user}`, delivery);
  };
  const operate = (operation: string, input: object) => reception.operate({ operation, input });
  const iso = (ms: number) => new Date(ledger.now + ms).toISOString();
  return { ledger, reception, said, stored, woken, changed, lost, write, operate, iso };
}

const codeIn = (text = ""): string => /code: (?<code>\w+)/.exec(text)?.groups?.["code"] ?? "";

test("a code from before each chat had a sandbox lets its sender in, within its hour", async () => {
  const asking = stage();
  const requests = [
    { id: "UOLD", code: "OLDCODEX", createdAt: asking.iso(-70 * MINUTE_MS) },
    { id: "UANN", code: "ANNSCODE", createdAt: asking.iso(-20 * MINUTE_MS), meta: { name: "Ann" } },
  ];
  const { write, operate, said } = stage({ requests });
  expect(await write("UANN")).toMatchObject({ admitted: false });
  expect(said.map(codeIn)).toEqual(["ANNSCODE"]);
  const approve = (code: string) => operate("pairing approve", { channel: "slack", code });
  expect(await approve("OLDCODEX")).toMatchObject({ ok: false, error: { code: "pairing_code_unknown" } });
  expect(await approve("ANNSCODE")).toMatchObject({ ok: true, value: { approved: "UANN" } });
  expect(await write("UANN")).toMatchObject({ admitted: true });
  expect(await approve("ANNSCODE")).toMatchObject({ ok: false });
});

test("a code is not given to a sender who was approved meanwhile, and there are no more than places", async () => {
  const { iso } = stage();
  const requests = Array.from({ length: 25 }, (_, index) => ({
    id: `U${index}`,
    code: `CODE${index}`,
    createdAt: iso((index - 40) * MINUTE_MS),
  }));
  const { operate } = stage({ requests, approved: ["U24"] });
  const list = await operate("pairing list", { channel: "slack" });
  const ids = (list as { value?: { requests: { id: string }[] } }).value?.requests.map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => `U${index + 4}`));
});

test("codes are stored for the way back within five minutes, each once", async () => {
  const { ledger, reception, write, said, stored, operate, woken } = stage({}, undefined);
  await Promise.all([write("UANN"), write("UBOB")]);
  await write("UANN");
  expect(stored).toEqual([]);
  expect(Math.max(...woken)).toBeLessThanOrEqual(ledger.now + 5 * MINUTE_MS);
  await Promise.all([reception.flush(), reception.flush()]);
  expect(stored.at(-1)?.platforms.slack).toMatchObject({
    allowFrom: [],
    requests: [
      { id: "UANN", code: codeIn(said[0]) },
      { id: "UBOB", code: codeIn(said[1]) },
    ],
  });
  const count = woken.length;
  await write("UANN");
  await reception.flush();
  expect([stored.length, woken.length]).toEqual([1, count]);
  await operate("pairing approve", { channel: "slack", code: codeIn(said[0]) });
  expect(stored.at(-1)?.platforms.slack).toMatchObject({ allowFrom: ["UANN"], requests: [{ id: "UBOB" }] });
});

test("a revocation that a chat's object does not take is sent until it does", async () => {
  const { ledger, reception, woken, changed, lost, write, operate } = stage();
  await write("UANN");
  await operate("pairing grant", { channel: "slack", sender: "UANN", role: "person" });
  // Before the operator's command has ended.
  expect(changed).toEqual(["slack-DUANN person"]);

  lost.calls = 20;
  await operate("pairing revoke", { channel: "slack", sender: "UANN" });
  for (let attempt = 0; attempt <= 20; attempt += 1) {
    await reception.flush();
    ledger.now = Math.max(ledger.now, woken.at(-1) ?? 0);
  }
  expect(changed).toEqual(["slack-DUANN person", "slack-DUANN undefined"]);
});

test("the names of all chats come from their first events and their reports, which stay as small as they were", async () => {
  const { write, reception } = stage();
  await write("UANN");
  expect([...reception.names.names(["slack:UANN", "slack:DUANN"]).values()].map(({ key }) => key)).toEqual([
    "slack:UANN",
    "slack:UANN",
  ]);
  const counts = { waiting: 0, delivering: 0, answered: 1, ignored: 0, failed: 0 };
  const report = { running: true, counts, usedAt: new Date(0).toISOString() };
  reception.roster.meet("slack-DUANN");
  const names = [{ key: "slack:UANN", kind: "person", name: "Ann", admitted: "approval" } as const];
  reception.report("slack-DUANN", { ...report, names });
  expect(reception.names.names(["slack:DUANN"]).get("slack:DUANN")).toMatchObject({
    name: "Ann",
    admitted: "approval",
  });
  reception.report("slack-DUANN", report);
  expect(reception.roster.list({ limit: 9 })).toMatchObject([{ report }]);
  expect(JSON.stringify(reception.roster.list({ limit: 9 }))).not.toContain("Ann");
});
