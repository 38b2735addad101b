import { expect, onTestFinished, test } from "vitest";
import type { Delivery, Platform } from "../../../runtime/contract/delivery.ts";
import { readAccessRules } from "../../../runtime/edge/tenants/access-rules.ts";
import { TenantDesk } from "../../../runtime/edge/tenants/desk.ts";
import { operateOnPeople } from "../../../runtime/edge/tenants/operations.ts";
import { Browsers } from "../../../runtime/edge/tenants/browsers.ts";
import { People } from "../../../runtime/edge/tenants/people.ts";
import { placeOf } from "../../../runtime/edge/tenants/place.ts";
import { tenantOf } from "../../../runtime/contract/tenant.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { command, directCommand, MASON } from "../../support/discord.ts";
import { slackEvent } from "../../support/edge.ts";
import { LedgerStage } from "../support/ledger.ts";

/** A desk over a config, and what it says, lets in and tells. */
function stage(config?: object) {
  const ledger = new LedgerStage();
  onTestFinished(() => ledger.close());
  const [said, met, changes]: [string[], string[], unknown[]] = [[], [], []];
  const requests: Platform[] = [];
  const people = new People({
    sql: ledger.sql,
    onChange: (...change) => void changes.push(change),
    clock: () => ledger.now,
  });
  const desk = new TenantDesk({
    access: async (platform) => {
      const rules = readAccessRules(config && JSON.stringify(config), platform);
      if (rules === undefined) throw new Error("the config is broken");
      return channelAccess(rules, people.lists(platform));
    },
    lists: (platform) => people.lists(platform),
    meet: (tenant) => void met.push(tenant),
    place: (...where) => people.meet(...where),
    say: async (_, text) => void said.push(text),
    onRequest: (platform) => void requests.push(platform),
  });
  const introduce = (platform: Platform, payload: Record<string, unknown>) => {
    const event: Delivery = { id: "1", platform, conversation: "c", receivedAt: 0, payload };
    const place = placeOf(event);
    return desk.decide(place === undefined ? "slack-none" : tenantOf(place.chat), event);
  };
  const browsers = new Browsers({ sql: ledger.sql, onChange: () => {}, clock: () => ledger.now });
  return { people, browsers, introduce, said, met, changes, requests };
}

const ADA = { id: 42, is_bot: false, first_name: "Ada", username: "ada" };
const toBot = { message: { chat: { id: 42, type: "private" }, from: ADA, text: "hello" } };
const inGroup = { message: { chat: { id: -7, type: "group" }, from: ADA, text: "hello" } };

test("a stranger gets a code, the same at each question, and no sandbox", async () => {
  const { people, introduce, said, met, requests } = stage();
  const refused = { admitted: false, note: "the sender is not approved" };
  expect(await introduce("telegram", toBot)).toEqual(refused);
  expect(await introduce("telegram", toBot)).toEqual(refused);
  const [request] = people.lists("telegram").pending();
  expect(request).toMatchObject({ id: "42", meta: { username: "ada", firstName: "Ada" } });
  expect(said[0]).toContain(`Your pairing code: ${request?.code}`);
  expect(said[1]).toBe(said[0]);
  expect(met).toEqual([]);
  // Operators are told once.
  expect(requests).toEqual(["telegram"]);
});

test("an approved sender gets a sandbox with the rights of the approval", async () => {
  const { people, introduce, met, changes } = stage();
  await introduce("telegram", toBot);
  people.lists("telegram").approve(people.lists("telegram").pending()[0]?.code ?? "", "operator");
  expect(changes).toEqual([["telegram", "42", "operator"]]);
  expect(people.directChat("telegram", "42")).toBe("telegram-42");
  expect(await introduce("telegram", toBot)).toEqual({
    admitted: true,
    grant: { channel: "telegram", sender: "42", role: "operator" },
  });
  expect(met).toEqual(["telegram-42"]);

  expect(people.lists("telegram").revoke("42")).toBe(true);
  expect(changes[1]).toEqual(["telegram", "42", undefined]);
  expect(await introduce("telegram", toBot)).toMatchObject({ admitted: false });
});

test.each<[string, object, object]>([
  ["listed in the config", { dmPolicy: "allowlist", allowFrom: ["42"] }, { admitted: true }],
  [
    "not on the list",
    { dmPolicy: "allowlist", allowFrom: [] },
    { admitted: false, note: "the sender is not on the list" },
  ],
  ["let in with everybody", { dmPolicy: "open", allowFrom: ["*"] }, { admitted: true }],
  [
    "refused with everybody",
    { dmPolicy: "disabled" },
    { admitted: false, note: "direct messages are disabled" },
  ],
  ["of a channel that is off", { enabled: false }, { admitted: false, note: "direct messages are disabled" }],
])("a sender is %s", async (_, telegram, standing) => {
  expect(await stage({ channels: { telegram } }).introduce("telegram", toBot)).toEqual(standing);
});

test.each<[string, object, object]>([
  ["not listed", {}, { admitted: false, note: "the group is not on the list", group: "-7" }],
  ["listed", { groups: { "-7": {} } }, { admitted: true }],
  [
    "switched off",
    { groups: { "-7": { enabled: false } } },
    { admitted: false, note: "the group is switched off" },
  ],
  ["any", { groupPolicy: "open" }, { admitted: true }],
])("a group is let in as the config says: %s", async (_, telegram, standing) => {
  const { introduce, said } = stage({ channels: { telegram } });
  expect(await introduce("telegram", inGroup)).toEqual(standing);
  expect(said).toEqual([]);
});

test("a channel of Slack's is let in where the bot was invited, a bot's own message is not", async () => {
  const { introduce } = stage();
  expect(await introduce("slack", slackEvent())).toEqual({ admitted: true });
  expect(await introduce("slack", slackEvent("Ev1", { bot_id: "B1" }))).toEqual({
    admitted: false,
    note: "written by a bot",
  });
  expect(await introduce("slack", { event: { type: "team_join" } })).toEqual({
    admitted: false,
    note: "event without a chat",
  });
});

test("nobody is let in by a config that cannot be read", async () => {
  await expect(stage({ channels: "all" }).introduce("telegram", toBot)).rejects.toThrow("broken");
  expect(readAccessRules("{", "telegram")).toBeUndefined();
});

test("a command on a Discord server that is not listed is answered with the server's id", async () => {
  const { introduce, said } = stage();
  expect(await introduce("discord", command("hello"))).toEqual({
    admitted: false,
    note: "the group is not on the list",
    group: "290926798626357999",
  });
  expect(said.join()).toContain("The server's id: 290926798626357999");
});

test("a direct command on Discord names its sender", async () => {
  const { people, introduce } = stage();
  await introduce("discord", directCommand("hello"));
  expect(people.lists("discord").pending()[0]?.id).toBe(MASON.id);
});

test("the operations about people run without a container", async () => {
  const { people, browsers, introduce } = stage();
  await introduce("telegram", toBot);
  const run = (operation: string, input: object) => operateOnPeople(people, browsers, { operation, input });
  const code = people.lists("telegram").pending()[0]?.code ?? "";

  expect(await run("pairing list", { channel: "telegram" })).toMatchObject({
    ok: true,
    value: { requests: [{ id: "42", code }], approved: [] },
  });
  expect(await run("pairing approve", { channel: "telegram", code: "WRONGONE" })).toMatchObject({
    ok: false,
    error: { code: "pairing_code_unknown" },
  });
  expect(await run("pairing approve", { channel: "telegram", code })).toMatchObject({
    value: { approved: "42", role: "person" },
  });
  expect(await run("pairing grant", { channel: "telegram", sender: "x", role: "person" })).toMatchObject({
    error: { code: "sender_id_invalid" },
  });
  const files = ["pairing", "allowFrom", "operators"].map((name) => `credentials/telegram-${name}.json`);
  const shown = await Promise.all(files.map((file) => run("cat", { file })));
  expect(shown.map((reply) => JSON.parse((reply as { value: { text: string } }).value.text))).toEqual([
    { version: 1, requests: [] },
    { version: 1, allowFrom: ["42"] },
    { version: 1, operators: [] },
  ]);
  await expect(run("cat", { file: "steward.json" })).rejects.toThrow("not on the list");
  await expect(run("sessions list", {})).rejects.toThrow("not on the list");
});
