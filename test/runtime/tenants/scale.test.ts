import { expect, onTestFinished, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { tenantOf } from "../../../runtime/contract/tenant.ts";
import type { Row, Sql, SqlValue } from "../../../runtime/edge/ledger/sql.ts";
import { readAccessRules } from "../../../runtime/edge/tenants/access-rules.ts";
import { TenantDesk } from "../../../runtime/edge/tenants/desk.ts";
import { People } from "../../../runtime/edge/tenants/people.ts";
import { TenantRoster } from "../../../runtime/edge/tenants/roster.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { fillRoster } from "../../support/roster.ts";
import { LedgerStage } from "../support/ledger.ts";

const TENANTS = 10_000;

/** A database that notes its statements, and the characters that they read and were given. */
function watched() {
  const stage = new LedgerStage();
  onTestFinished(() => stage.close());
  const { sql: plain } = stage;
  const statements: [string, SqlValue[]][] = [];
  const seen = { characters: 0 };
  const sql: Sql = {
    all(statement, ...values) {
      const rows = plain.all(statement, ...values);
      statements.push([statement, values]);
      seen.characters += JSON.stringify([rows, values]).length;
      return rows;
    },
    transaction: (work) => plain.transaction(work),
    lightTransaction: (work) => plain.lightTransaction(work),
  };
  /** What SQLite does for the last statement. */
  const plan = (): string[] => {
    const [statement, values] = statements.at(-1) ?? ["", []];
    return plain.all(`EXPLAIN QUERY PLAN ${statement}`, ...values).map(({ detail }: Row) => String(detail));
  };
  const clear = (): void => {
    statements.length = 0;
    seen.characters = 0;
  };
  return { stage, sql, statements, seen, plan, clear };
}

test(`pages of ${TENANTS} tenants give each once, those with a problem first`, () => {
  const { stage, sql } = watched();
  const roster = new TenantRoster(sql, () => stage.now);
  const { ids, failing } = stage.sql.transaction(() => fillRoster(roster, TENANTS));

  const listed: string[] = [];
  for (;;) {
    const page = roster.list({ limit: 100, after: listed.at(-1) });
    listed.push(...page.map(({ id }) => id));
    if (page.length < 100) break;
  }
  const well = ids.filter((id) => !failing.has(id));
  expect(listed).toEqual([...[...failing].toSorted(), ...well.toSorted()]);
});

test("a page is read from its index, without the rows before it and without sorting", () => {
  const { stage, sql, plan } = watched();
  const roster = new TenantRoster(sql, () => stage.now);
  const { ids } = stage.sql.transaction(() => fillRoster(roster, TENANTS));

  roster.list({ limit: 100 });
  expect(plan()).toEqual(["SCAN tenants USING INDEX tenants_listing"]);
  roster.list({ limit: 100, after: ids[5_000] });
  expect(plan().at(0)).toBe("SEARCH tenants USING INDEX tenants_listing ((is_well,id)>(?,?))");
  expect(plan().filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
});

test("the running containers are read from an index of them alone, in its order", () => {
  const { stage, sql, plan } = watched();
  const roster = new TenantRoster(sql, () => stage.now);
  const { running } = stage.sql.transaction(() => fillRoster(roster, TENANTS));

  expect(roster.running()).toEqual(running);
  expect(plan()).toEqual(["SCAN tenants USING INDEX tenants_running"]);
});

test("a report and a tenant's own row are found by their keys", () => {
  const { stage, sql, plan, statements, clear } = watched();
  const roster = new TenantRoster(sql, () => stage.now);
  const { ids, report } = stage.sql.transaction(() => fillRoster(roster, TENANTS));
  clear();
  roster.report(ids[7_000] ?? "", report);
  expect(statements).toHaveLength(1);
  expect(plan()).toEqual(["SEARCH tenants USING PRIMARY KEY (id=?)"]);
});

/** Statements and characters of an introduction beside so many approvals. */
async function introduction(approvals: number) {
  const { stage, sql, statements, seen, clear } = watched();
  const people = new People({ sql, onChange: () => {}, clock: () => stage.now });
  people.adopt("telegram", {
    allowFrom: Array.from({ length: approvals }, (_, index) => String(1_000_000_000 + index)),
    operators: [],
  });
  const rules = readAccessRules(undefined, "telegram");
  if (rules === undefined) throw new Error("there are no rules");
  const desk = new TenantDesk({
    access: async (platform) => channelAccess(rules, people.lists(platform)),
    lists: (platform) => people.lists(platform),
    meet: () => {},
    place: (...where) => people.meet(...where),
    say: async () => undefined,
    onRequest: () => {},
  });
  const introduce = async (id: number) => {
    clear();
    const payload = { message: { chat: { id, type: "private" }, from: { id } } };
    const event: Delivery = { id: "1", platform: "telegram", conversation: "1", receivedAt: 0, payload };
    const tenant = tenantOf({ platform: "telegram", chat: String(id) });
    const { admitted } = await desk.decide(tenant, event);
    return { admitted, statements: statements.length, characters: seen.characters };
  };
  return { known: await introduce(1_000_000_000), stranger: await introduce(1) };
}

test("an introduction reads the approvals a few times, however many there are", async () => {
  const few = await introduction(1_000);
  const many = await introduction(10_000);
  for (const who of ["known", "stranger"] as const) {
    expect(many[who].admitted).toBe(who === "known");
    expect(many[who].statements).toBe(few[who].statements);
    expect(many[who].statements).toBeLessThanOrEqual(8);
    expect(many[who].characters).toBeLessThanOrEqual(11 * few[who].characters);
  }
});
