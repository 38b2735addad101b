import { assert, constantFrom, property, string } from "fast-check";
import { expect, it } from "vitest";
import { readEdgeSettings } from "../../../runtime/contract/environment.ts";
import { chatOfTenant, isTenantId, sendsTo, stateKeys, tenantOf } from "../../../runtime/contract/tenant.ts";

it.each([
  [{ platform: "slack", chat: "C024BE91L" }, "slack-C024BE91L"],
  [{ platform: "telegram", chat: "-1001234567890" }, "telegram--1001234567890"],
  [{ platform: "discord", chat: "1146200000000000000" }, "discord-1146200000000000000"],
  [{ platform: "web", chat: "a/../b_c" }, "web-a_2f_2e_2e_2fb_5fc"],
] as const)("names the tenant of %j", (chat, tenant) => {
  expect(tenantOf(chat)).toBe(tenant);
  expect(isTenantId(tenant)).toBe(true);
});

it("gives each chat an id of its own, from which the chat can be read", () => {
  const platform = constantFrom("slack" as const, "telegram" as const, "discord" as const, "web" as const);
  const chat = string({ unit: "grapheme", minLength: 1, maxLength: 16 });
  assert(
    property(platform, chat, (where, name) => {
      const address = { platform: where, chat: name };
      expect(chatOfTenant(tenantOf(address))).toEqual(address);
      expect(isTenantId(tenantOf(address))).toBe(true);
    }),
  );
});

it.each(["", "slack", "slack-", "irc-C1", "slack-C1/x", "slack-..", "slack-_2", "slack-_zz", "slack-C1\n"])(
  "does not take %j for a tenant",
  (text) => {
    expect(isTenantId(text)).toBe(false);
  },
);

it("keeps the objects of a tenant apart from those of all others, except for the config", () => {
  expect(stateKeys("slack-C1")).toEqual({
    config: "steward/steward.json",
    generations: "steward/tenants/slack-C1/generations/",
    marker: "steward/tenants/slack-C1/.last-sync",
    duty: "steward/tenants/slack-C1/duty.json",
  });
  expect(stateKeys()).toMatchObject({ generations: "steward/generations/", duty: "steward/duty.json" });
});

it("sends scheduled messages to the tenant's own chat alone", () => {
  const chat = { platform: "slack", chat: "C1" } as const;
  expect([undefined, "", "slack-C1", "slack-C2", "rest"].map((serves) => sendsTo(serves, chat))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

it("reads the tenancy, whose default is one sandbox for all", () => {
  expect(readEdgeSettings({})).toMatchObject({
    settings: { tenancy: "shared", maxSandboxes: 10, canaryTenants: [] },
  });
  const chat = { TENANCY: "chat", MAX_SANDBOXES: "3", CANARY_TENANTS: "slack-C1,web-d" };
  expect(readEdgeSettings(chat)).toMatchObject({
    settings: { tenancy: "chat", maxSandboxes: 3, canaryTenants: ["slack-C1", "web-d"] },
  });
});

it("names every problem of the tenancy's variables at once", () => {
  const result = readEdgeSettings({ TENANCY: "user", MAX_SANDBOXES: "0", CANARY_TENANTS: "slack-C1,all" });
  expect(result).toEqual({
    ok: false,
    problems: [
      'TENANCY: "user" is neither "shared" nor "chat"',
      'MAX_SANDBOXES: "0" is not a whole number from 1 to 500',
      'CANARY_TENANTS: "slack-C1,all" is not a list of tenant ids',
    ],
  });
});
