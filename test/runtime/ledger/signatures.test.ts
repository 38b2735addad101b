import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SignatureStore } from "../../../runtime/edge/ledger/signatures.ts";
import { HOUR, LedgerStage } from "../support/ledger.ts";

const MINUTE = 60_000;

let stage: LedgerStage;

beforeEach(() => {
  stage = new LedgerStage();
});

afterEach(() => stage.close());

describe("a signature of the stack", () => {
  const memory = () => new SignatureStore(stage.sql, () => stage.now);

  test("is accepted once, also across a restart and a clock that is set back", () => {
    const expiresAt = stage.now + 5 * MINUTE;
    expect(memory().use("a", expiresAt)).toBe("accepted");
    expect(memory().use("a", expiresAt)).toBe("used");
    stage.now += 6 * MINUTE;
    expect(memory().use("b", stage.now + 5 * MINUTE)).toBe("accepted");
    stage.now -= 6 * MINUTE;
    expect(memory().use("a", expiresAt)).toBe("used");
  });

  test("is forgotten after its time, and is not accepted while too many are remembered", () => {
    const store = memory();
    stage.sql.all(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
       INSERT INTO ledger_signatures SELECT 'mac ' || n, ? FROM numbers`,
      stage.now + 5 * MINUTE,
    );
    expect(store.use("one more", stage.now + 5 * MINUTE)).toBe("full");
    expect(store.use("mac 1", stage.now + 5 * MINUTE)).toBe("used");
    stage.now += 2 * HOUR;
    expect(store.use("one more", stage.now + 5 * MINUTE)).toBe("accepted");
    const [count] = stage.sql.all("SELECT count(*) AS n FROM ledger_signatures");
    expect(count).toEqual({ n: 1 });
  });
});
