import { afterEach, beforeEach, expect, test } from "vitest";
import type { TenantId } from "../../../runtime/contract/tenant.ts";
import type { RenewalOutcome } from "../../../runtime/edge/tenants/ports.ts";
import { Waves } from "../../../runtime/edge/tenants/waves.ts";
import { LedgerStage } from "../support/ledger.ts";

let stage: LedgerStage;
/** What has become of each replaced container; the others start. */
let became: Record<TenantId, RenewalOutcome>;
let looks: TenantId[];
let unwell: Set<TenantId>;
beforeEach(() => {
  stage = new LedgerStage();
  became = {};
  looks = [];
  unwell = new Set();
});
afterEach(() => stage.close());

function waves({
  version = "v2",
  canaries = [] as TenantId[],
  known = (one: TenantId): boolean => one !== "",
} = {}) {
  const one = new Waves({
    sql: stage.sql,
    version,
    canaries,
    knows: known,
    isWell: (tenant) => !unwell.has(tenant),
    look: async (tenant) => {
      looks.push(tenant);
      return became[tenant] ?? "starts";
    },
    clock: () => stage.now,
  });
  /** All that ask, each again, after the interval in which nothing is looked at twice. */
  const granted = async (asking: readonly TenantId[]): Promise<number> => {
    stage.now += 10_000;
    const answers = await Promise.all(asking.map((tenant) => one.mayRenew(tenant)));
    return answers.filter(Boolean).length;
  };
  return { one, granted };
}

const CHATS = Array.from({ length: 40 }, (_, index) => `slack-C${index}`);

test("one container is replaced, then two, four and so on, each wave when the one before answers", async () => {
  const { one, granted } = waves();
  const sizes: number[] = [];
  for (let wave = 0; wave < 7; wave += 1) {
    sizes.push(await granted(CHATS));
    // The wave is under way: nobody follows.
    expect(await granted(CHATS)).toBe(sizes.at(-1));
    became = Object.fromEntries(CHATS.map((chat) => [chat, "answers"]));
    stage.now += 10_000;
    await one.look();
    became = {};
  }
  expect(sizes).toEqual([1, 3, 7, 15, 31, 40, 40]);
  expect(one.progress()).toEqual({ begun: 40, answering: 40, failing: [] });
});

test("the canaries come first, and only those that were let in", async () => {
  const canaries = ["slack-C1", "slack-C2", "slack-CNEVER"];
  const { granted } = waves({ canaries, known: (one) => one !== "slack-CNEVER" });
  expect(await granted(["slack-C1", "slack-C5"])).toBe(1);
  became["slack-C1"] = "answers";
  expect(await granted(["slack-C1", "slack-C5"])).toBe(1);
  became["slack-C2"] = "answers";
  expect(await granted(["slack-C1", "slack-C5", "slack-C6"])).toBe(2);
  expect(looks).not.toContain("slack-CNEVER");
});

test("the first that fails stops the rest, until it answers", async () => {
  const { one, granted } = waves();
  await granted(CHATS);
  became = Object.fromEntries(CHATS.map((chat) => [chat, "answers"]));
  expect(await granted(CHATS)).toBe(3);
  became = { "slack-C1": "fails", "slack-C2": "answers" };
  expect(await granted(CHATS)).toBe(3);
  expect(one.progress()).toEqual({ begun: 3, answering: 2, failing: ["slack-C1"] });

  became["slack-C1"] = "answers";
  expect(await granted(CHATS)).toBe(7);
  expect(one.progress().failing).toEqual([]);
});

test("one that did not answer before is replaced at once, and holds nobody up", async () => {
  unwell.add("slack-C9");
  const { one, granted } = waves({ canaries: ["slack-C1"] });
  expect(await granted(["slack-C9", "slack-C2"])).toBe(1);
  expect(one.progress()).toEqual({ begun: 1, answering: 0, failing: [] });
});

test("the next version begins again, and a new object goes on where the last one was", async () => {
  await waves().granted(CHATS);
  became = { "slack-C0": "answers" };
  expect(await waves().granted(CHATS)).toBe(3);
  expect(waves({ version: "v3" }).one.progress()).toEqual({ begun: 0, answering: 0, failing: [] });
});

test("however many ask, each container is looked at once in five seconds", async () => {
  const { one } = waves();
  stage.now += 10_000;
  await Promise.all(CHATS.map((chat) => one.mayRenew(chat)));
  expect(looks).toEqual([]);
  stage.now += 5_000;
  await Promise.all(CHATS.map((chat) => one.mayRenew(chat)));
  expect(looks).toEqual(["slack-C0"]);
});
