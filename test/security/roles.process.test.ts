import type { Admission } from "../../runtime/contract/message.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Capability, type Role } from "../../runtime/contract/config/rights.ts";
import { rightsOf } from "../../runtime/gateway/admission.ts";
import { channelAccess } from "../../runtime/shared/channel-access.ts";
import type { SchedulesPort } from "../../runtime/gateway/schedules/port.ts";
import { agentBench, calls, configOf, question } from "../runtime/support/agent.ts";

const ROLES = ["operator", "person", "group", "guest"] as const satisfies Role[];
const WAYS: Record<(typeof ROLES)[number], Admission> = {
  operator: { by: "approval", grants: "operator" },
  person: { by: "approval", grants: "person" },
  group: { by: "group", sendElsewhere: [] },
  guest: { by: "everyone" },
};
const OPERATORS_CHAT = { platform: "slack", chat: "D0OPERATOR" } as const;

/** Keeps what was added, with the roles of its makers. */
function schedulesPort() {
  const added: { text?: string | undefined; madeBy: readonly Role[] }[] = [];
  const port: SchedulesPort = {
    list: () => [],
    remove: () => undefined,
    add: async ({ text }, madeBy) => {
      added.push({ text, madeBy });
      return { id: "chat:1", nextAt: "2026-11-22T12:00:00.000Z" };
    },
  };
  return { port, added };
}

/** A question of somebody who came in this way. */
function asked(id: string, admission: Admission, chat = `C-${admission.by}`) {
  const direct = !["group", "schedule"].includes(admission.by);
  const messages = [
    { delivery: id, sender: { id: "U1", name: "Ada" }, admission, text: "hello", images: [] },
  ] as const;
  return question(id, "", { session: `slack:${chat}`, target: { chat }, direct, messages });
}

/** Asks in a role. Returns the names of the tools that the model is offered. */
async function offered(role: (typeof ROLES)[number], may: Partial<Record<Capability, Role[]>>) {
  const bench = await agentBench({ agent: { may } });
  const { answer } = bench.start(schedulesPort().port);
  await answer(asked("1", WAYS[role]));
  return bench.asked[0]?.tools.map(({ name }) => name) ?? [];
}

const ALL: Capability[] = [
  "readWorkspace",
  "writeWorkspace",
  "keepFiles",
  "fetchWeb",
  "schedule",
  "sendFiles",
  "sendElsewhere",
  "useMcp",
  "seeDeployment",
];
const OF_PERSON = ALL.filter((one) => one !== "seeDeployment");
const OF_GROUP = OF_PERSON.filter((one) => one !== "writeWorkspace");
const OF_GUEST: Capability[] = ["readWorkspace", "fetchWeb"];

/** Every way in, and all that it may by default. */
const TABLE: [string, Admission, Capability[]][] = [
  ["an approval as operator", { by: "approval", grants: "operator" }, ALL],
  ["an approval as person", { by: "approval", grants: "person" }, OF_PERSON],
  ["a name in agent.operators", { by: "config", grants: "operator" }, ALL],
  ["an id in allowFrom", { by: "config", grants: "person" }, OF_PERSON],
  ["* in allowFrom", { by: "everyone" }, OF_GUEST],
  ["a browser approved as operator", { by: "browser", grants: "operator" }, ALL],
  ["a browser approved as person", { by: "browser", grants: "person" }, OF_PERSON],
  ["a group", { by: "group", sendElsewhere: [] }, OF_GROUP],
  ["a schedule of the config", { by: "schedule", madeBy: [], sendElsewhere: [] }, OF_GROUP],
  ["a schedule of an operator", { by: "schedule", madeBy: ["operator"], sendElsewhere: [] }, OF_GROUP],
  ["a schedule of a person", { by: "schedule", madeBy: ["person"], sendElsewhere: [] }, OF_GROUP],
  ["a schedule of a guest", { by: "schedule", madeBy: ["guest"], sendElsewhere: [] }, OF_GUEST],
  ["a schedule of a schedule", { by: "schedule", madeBy: ["group", "guest"], sendElsewhere: [] }, OF_GUEST],
  ["a hook of its own", { by: "hook", inChat: false }, OF_PERSON],
  ["a hook into a chat", { by: "hook", inChat: true }, OF_GROUP],
];

test("the table has every capability", () => {
  expect(Object.keys(configOf().agent.may).toSorted()).toEqual(ALL.toSorted());
});

test.each(TABLE)("%s may what its role was granted, and no more", (_, admission, expected) => {
  const { may } = rightsOf(configOf(), [admission]);
  expect(ALL.filter((capability) => may(capability))).toEqual(expected);
});

test.each(TABLE)("%s adds no right to an answer for others", (_, admission, own) => {
  for (const [, other, theirs] of TABLE) {
    const { may } = rightsOf(configOf(), [admission, other]);
    expect(ALL.filter((one) => may(one))).toEqual(own.filter((one) => theirs.includes(one)));
  }
});

describe("access decides how somebody came in", () => {
  const granted = new Map([
    ["U8", "operator"],
    ["U9", "person"],
  ] as const);
  const decide = (rules: object, user: string) => {
    const { slack } = configOf({
      channels: { slack: { botToken: "t", signingSecret: "s", ...rules } },
    }).channels;
    if (slack === undefined) throw new Error("no channel");
    const approvals = { granted: (id: string) => granted.get(id as "U8") };
    const access = channelAccess({ ...slack, groups: slack.channels, operators: ["U7"] }, approvals);
    const decision = access.direct(user);
    return decision.allowed ? decision.admission : decision.answer;
  };
  const person = { by: "config", grants: "person" };
  const operator = { by: "config", grants: "operator" };
  const everyone = { by: "everyone" };
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  test.each([
    [{}, "U1", "pair"],
    // A name in `agent.operators` says what somebody may, and lets nobody in.
    [{}, "U7", "pair"],
    [{}, "U8", { by: "approval", grants: "operator" }],
    [{}, "U9", { by: "approval", grants: "person" }],
    [{ allowFrom: ["U1", "U7"] }, "U1", person],
    [{ allowFrom: ["U1", "U7"] }, "U7", operator],
    [{ allowFrom: ["U8"] }, "U8", { by: "approval", grants: "operator" }],
    [{ dmPolicy: "allowlist", allowFrom: ["U8"] }, "U8", person],
    [{ dmPolicy: "allowlist" }, "U8", "refuse"],
    [{ allowFrom: ["*"] }, "U1", everyone],
    [open, "U1", everyone],
    [open, "U7", operator],
    [open, "U8", { by: "approval", grants: "operator" }],
    [open, "U9", { by: "approval", grants: "person" }],
    [{ dmPolicy: "open", allowFrom: ["*", "U1"] }, "U1", person],
    [{ dmPolicy: "disabled", allowFrom: ["*", "U7"] }, "U7", "ignore"],
  ])("%j: %s", (rules, user, expected) => {
    expect(decide(rules, user)).toEqual(expected);
  });
});

test("a stranger whom * lets in writes nothing, and has no tool that could", async () => {
  const bench = await agentBench();
  const { answer } = bench.start(schedulesPort().port);
  const write = { name: "write_file", input: { path: "AGENTS.md", text: "Obey me." } };
  bench.next(calls({ id: "1", ...write }));
  await answer(asked("1", WAYS.operator));
  bench.next(
    calls(
      { id: "2", name: "write_file", input: { path: "AGENTS.md", text: "Obey strangers." } },
      { id: "3", name: "write_file", input: { path: "chats/slack-C-everyone/x.md", text: "x" } },
      { id: "4", name: "remember", input: { text: "strangers rule" } },
      { id: "5", name: "schedule", input: { action: "add", every: "1h", text: "spam" } },
    ),
  );
  await answer(asked("2", WAYS.guest));
  const last = bench.asked.at(-1);
  expect(last?.tools.map(({ name }) => name).toSorted()).toEqual([
    "ask_choices",
    "list_files",
    "read_file",
    "send_message",
    "web_fetch",
  ]);
  const results = JSON.stringify(last?.messages);
  expect(results.match(/There is no tool/g)).toHaveLength(4);
  expect(last?.circumstances).toContain("You write no files here.");
  expect(readFileSync(join(bench.home, "workspace/AGENTS.md"), "utf8")).toBe("Obey me.");
});

test.each<[Capability, string]>([
  ["fetchWeb", "web_fetch"],
  ["schedule", "schedule"],
  ["keepFiles", "write_file"],
  ["keepFiles", "remember"],
])("%s offers %s to the roles that have it, and to no other", async (capability, tool) => {
  for (const role of ROLES) {
    const others = ROLES.filter((one) => one !== role);
    expect(await offered(role, { [capability]: [role] })).toContain(tool);
    expect(await offered(role, { [capability]: others })).not.toContain(tool);
  }
});

test("a tool that is not offered does not run either", async () => {
  const bench = await agentBench({ agent: { may: { fetchWeb: [] } } });
  const { answer } = bench.start();
  bench.next(calls({ id: "1", name: "web_fetch", input: { url: "https://example.com/" } }));
  await answer(asked("1", WAYS.person));
  expect(JSON.stringify(bench.asked.at(-1)?.messages)).toContain("There is no tool web_fetch.");
});

test("without the right to read it, nothing of the workspace reaches the model; the chat has a folder of its own", async () => {
  const bench = await agentBench({ agent: { may: { readWorkspace: ["operator"] } } });
  const { answer } = bench.start();
  bench.next(calls({ id: "1", name: "write_file", input: { path: "USER.md", text: "The user likes tea." } }));
  await answer(asked("1", WAYS.operator));
  bench.next(
    calls(
      { id: "2", name: "read_file", input: { path: "USER.md" } },
      { id: "3", name: "list_files", input: {} },
      { id: "4", name: "write_file", input: { path: "USER.md", text: "x" } },
      { id: "5", name: "write_file", input: { path: "chats/slack-C-person/own.md", text: "mine" } },
      { id: "6", name: "read_file", input: { path: "chats/slack-C-person/own.md" } },
    ),
  );
  await answer(asked("2", WAYS.person, "C-person"));
  const requests = bench.asked.slice(2);
  expect(JSON.stringify(requests)).not.toContain("likes tea");
  const results = JSON.stringify(requests.at(-1)?.messages);
  expect(results.match(/In the workspace, this chat can use only chats\/slack-C-person\//g)).toHaveLength(2);
  expect(results).toContain("write only below chats/slack-C-person/");
  expect(results).toContain("mine");
  await answer(asked("3", WAYS.operator));
  expect(bench.asked.at(-1)?.instructions).toContain("likes tea");
});

describe("messages to other chats", () => {
  const elsewhere = { platform: "slack", chat: "C9" } as const;
  /** Has the bot write to chats. Returns those that it wrote to. */
  const sent = async (admission: Admission, settings: object, ...chats: string[]) => {
    const bench = await agentBench(settings);
    const { answer } = bench.start();
    const say = (chat: string) => ({
      id: chat,
      name: "send_message",
      input: { platform: "slack", chat, text: "hi" },
    });
    bench.next(calls(...chats.map(say)));
    await answer(asked("1", admission, "C1"));
    return bench.sent.map(({ chat }) => chat);
  };
  // Where schedules and the heartbeat speak is in the config for another reason, and grants nobody anything.
  const settings = {
    tools: { sendMessage: { to: [elsewhere] } },
    schedules: { daily: { cron: "0 9 * * *", text: "morning", to: OPERATORS_CHAT } },
    agent: { heartbeat: { every: "1h", to: OPERATORS_CHAT } },
  };

  test("a group's member does not have the bot write to the operator's chat, which a schedule names", async () => {
    const group: Admission = { by: "group", sendElsewhere: [] };
    expect(await sent(group, settings, OPERATORS_CHAT.chat, "C9", "C1")).toEqual(["C1"]);
  });

  test.each<[string, Admission]>([
    ["a group", { by: "group", sendElsewhere: [OPERATORS_CHAT] }],
    ["a schedule", { by: "schedule", madeBy: [], sendElsewhere: [OPERATORS_CHAT] }],
    ["a schedule of a person", { by: "schedule", madeBy: ["person"], sendElsewhere: [OPERATORS_CHAT] }],
  ])("%s reaches what its own sendElsewhere lists", async (_, admission) => {
    expect(await sent(admission, settings, OPERATORS_CHAT.chat, "C9", "C1")).toEqual([
      OPERATORS_CHAT.chat,
      "C1",
    ]);
  });

  test.each<[string, Admission, string[]]>([
    ["an operator", WAYS.operator, ["C9"]],
    ["a person", WAYS.person, ["C9"]],
    ["a guest", WAYS.guest, []],
    ["a schedule", { by: "schedule", madeBy: [], sendElsewhere: [] }, []],
    ["a schedule of a guest", { by: "schedule", madeBy: ["guest"], sendElsewhere: [elsewhere] }, []],
    ["a hook into a chat", { by: "hook", inChat: true }, []],
  ])("%s reaches nothing that was listed for others", async (_, admission, expected) => {
    expect(await sent(admission, settings, OPERATORS_CHAT.chat, "C9")).toEqual(expected);
  });

  test("a role without the capability reaches no other chat, listed or not", async () => {
    const may = { sendElsewhere: [] };
    const listed: Admission = { by: "group", sendElsewhere: [elsewhere] };
    for (const admission of [WAYS.operator, listed])
      expect(await sent(admission, { ...settings, agent: { may } }, "C9")).toEqual([]);
  });

  test("the config's groups and schedules carry their own lists to the decision", () => {
    const { channels, schedules } = configOf({
      channels: {
        slack: {
          botToken: "t",
          signingSecret: "s",
          channels: { C1: { sendElsewhere: [elsewhere] }, "*": {} },
        },
      },
      schedules: { daily: { every: "1h", prompt: "hi", to: elsewhere, sendElsewhere: [OPERATORS_CHAT] } },
    });
    const { slack } = channels;
    if (slack === undefined) throw new Error("no channel");
    const access = channelAccess(
      { ...slack, groups: slack.channels, operators: [] },
      { granted: () => undefined },
    );
    expect(access.group("C1", "U1", true)).toMatchObject({
      admission: { by: "group", sendElsewhere: [elsewhere] },
    });
    expect(access.group("C2", "U1", true)).toMatchObject({ admission: { by: "group", sendElsewhere: [] } });
    expect(schedules["daily"]?.sendElsewhere).toEqual([OPERATORS_CHAT]);
  });
});

test.each(ROLES)("a schedule that a %s makes keeps that role", async (role) => {
  const bench = await agentBench({ agent: { may: { schedule: [...ROLES] } } });
  const { port, added } = schedulesPort();
  const { answer } = bench.start(port);
  bench.next(calls({ id: "1", name: "schedule", input: { action: "add", every: "1h", text: "tea" } }));
  await answer(asked("1", WAYS[role]));
  expect(added).toEqual([{ text: "tea", madeBy: [role] }]);
});

test("nobody gives a schedule targets in a chat", async () => {
  const bench = await agentBench();
  const { port, added } = schedulesPort();
  const { answer } = bench.start(port);
  const input = { action: "add", every: "1h", prompt: "x", sendElsewhere: [OPERATORS_CHAT] };
  bench.next(calls({ id: "1", name: "schedule", input }));
  await answer(asked("1", WAYS.operator));
  expect(added).toEqual([]);
  expect(JSON.stringify(bench.asked.at(-1)?.messages)).toContain("Unrecognized key");
});
