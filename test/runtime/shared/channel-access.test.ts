import { expect, it } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { accessRules, channelAccess, pairingText } from "../../../runtime/shared/channel-access.ts";

function configOf(config: object) {
  const checked = checkConfig(config);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.config;
}

it("the rules of each platform come from its own part of the config", () => {
  const config = configOf({
    agent: { operators: ["slack:U1", "telegram:7", "discord:5", "slack:U2"] },
    channels: {
      slack: {
        botToken: "x",
        signingSecret: "y",
        dmPolicy: "allowlist",
        allowFrom: ["U9"],
        channels: { C1: {} },
      },
      telegram: { botToken: "x", groups: { "-100": { requireMention: false } } },
      discord: { token: "x", groupPolicy: "disabled", guilds: { "6": {} } },
    },
  });
  const { slack, telegram, discord } = accessRules(config);
  expect(slack).toMatchObject({
    dmPolicy: "allowlist",
    allowFrom: ["U9"],
    groups: { C1: { enabled: true } },
    operators: ["U1", "U2"],
  });
  expect(telegram).toMatchObject({
    dmPolicy: "pairing",
    groups: { "-100": { requireMention: false } },
    operators: ["7"],
  });
  expect(discord).toMatchObject({ groupPolicy: "disabled", groups: { "6": {} }, operators: ["5"] });
});

it("a channel that is not configured has no rules, so nobody is let in", () => {
  expect(accessRules(configOf({}))).toEqual({});
});

it("a decision reads the approvals each time", () => {
  const { telegram } = accessRules(configOf({ channels: { telegram: { botToken: "x" } } }));
  if (telegram === undefined) throw new Error("no rules");
  let role: "person" | "operator" | undefined;
  const access = channelAccess(telegram, { granted: (user) => (user === "7" ? role : undefined) });
  expect(access.direct("7")).toMatchObject({ allowed: false, answer: "pair" });
  role = "operator";
  expect(access.direct("7")).toMatchObject({ admission: { by: "approval", grants: "operator" } });
  expect(access.direct("8")).toMatchObject({ allowed: false, answer: "pair" });
});

it("a stranger is sent its code, or without a free place its id", () => {
  expect(pairingText("slack", "U1", "ABCDEFGH").split("\n")).toEqual([
    "I do not know you yet, so I have not read your message.",
    "The operator of this bot can see your request now. Send them your code, so that they know it is you. It is valid for an hour, and I will write to you when you are let in.",
    "Your pairing code: ABCDEFGH",
    "Your Slack user id: U1",
    "For the operator: steward pairing approve slack ABCDEFGH",
  ]);
  expect(pairingText("telegram", "7", undefined).split("\n")).toEqual([
    "I do not know you yet, so I have not read your message. Too many others are asking at the moment, so I have no code for you.",
    "Please ask the operator of this bot yourself, and send them your id.",
    "Your Telegram user id: 7",
    "For the operator: steward pairing grant telegram 7 person",
  ]);
});
