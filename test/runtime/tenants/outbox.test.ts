import { expect, onTestFinished, test } from "vitest";
import { TenantOutbox } from "../../../runtime/edge/tenants/outbox.ts";
import { LedgerStage, silent } from "../support/ledger.ts";

/** An outbox whose platform refuses the first `failures` texts. */
function stage(failures = 0) {
  const ledger = new LedgerStage();
  onTestFinished(() => ledger.close());
  const sent: string[] = [];
  let left = failures;
  const open = () =>
    new TenantOutbox({
      sql: ledger.sql,
      table: "tenant_outbox",
      mostAttempts: 10,
      send: async (tenant, text) => {
        left -= 1;
        if (left >= 0) throw new Error("refused");
        sent.push(`${tenant}: ${text}`);
      },
      clock: () => ledger.now,
      log: silent,
    });
  return { outbox: open(), open, sent, ledger };
}

test("a text is sent once", async () => {
  const { outbox, sent } = stage();
  outbox.add("telegram-42", "You are approved.");
  await outbox.run();
  await outbox.run();
  expect(sent).toEqual(["telegram-42: You are approved."]);
  expect(outbox.nextAt).toBeUndefined();
});

test("a text that the platform refuses is tried again, also by another object", async () => {
  const { outbox, open, sent, ledger } = stage(2);
  outbox.add("telegram-42", "You are approved.");
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await open().run();
    ledger.now = outbox.nextAt ?? ledger.now;
  }
  expect(sent).toHaveLength(1);
});

test("a chat that takes nothing is given up after ten attempts", async () => {
  const { outbox, sent, ledger } = stage(Number.POSITIVE_INFINITY);
  outbox.add("telegram-42", "You are approved.");
  let attempts = 0;
  while (outbox.nextAt !== undefined) {
    ledger.now = outbox.nextAt;
    await outbox.run();
    attempts += 1;
  }
  expect([attempts, sent]).toEqual([10, []]);
});

test("a later text to a chat replaces the one that was not sent", async () => {
  const { outbox, sent, ledger } = stage(1);
  outbox.add("telegram-42", "You are approved.");
  await outbox.run();
  outbox.add("telegram-42", "You are approved as an operator.");
  ledger.now += 1;
  await outbox.run();
  expect(sent).toEqual(["telegram-42: You are approved as an operator."]);
});
