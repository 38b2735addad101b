import { expect, test } from "vitest";
import { type Capability, type Role } from "../../runtime/contract/config/rights.ts";
import { rightsOf, roleOf } from "../../runtime/gateway/agent/rights.ts";
import type { SchedulesPort } from "../../runtime/gateway/schedules/port.ts";
import { agentBench, calls, configOf, question } from "../runtime/support/agent.ts";

const ROLES = ["operator", "person", "group"] as const satisfies Role[];

const OPERATOR = "U0OPERATOR";
const SCHEDULES: SchedulesPort = {
  list: () => [],
  remove: () => undefined,
  add: () => Promise.reject(new Error("not in this test")),
};

/** A question as somebody of this role asks it. In a group it is an operator who asks. */
function askedBy(role: Role, id: string) {
  const sender = { id: role === "person" ? "U1" : OPERATOR, name: "Ada" };
  const messages = [{ delivery: id, sender, text: "hello", images: [] }] as const;
  const chat = `C-${role}`;
  const [first] = messages;
  return question(id, "", {
    conversation: `slack:${chat}`,
    target: { chat },
    direct: role !== "group",
    messages: [first],
  });
}

/** Asks in a role. Returns the names of the tools that the model is offered, and its instructions. */
async function offered(role: Role, may: Partial<Record<Capability, Role[]>>) {
  const bench = await agentBench({ agent: { operators: [`slack:${OPERATOR}`], may } });
  const { answer } = bench.start(SCHEDULES);
  await answer(askedBy(role, "1"));
  const [request] = bench.asked;
  return { tools: request?.tools.map(({ name }) => name) ?? [], told: request?.instructions ?? "" };
}

test("an operator is who the config names, by platform and id; in a group nobody is more than the group", () => {
  const config = configOf({ agent: { operators: [`slack:${OPERATOR}`] } });
  const role = (platform: string, id: string, direct: boolean) =>
    roleOf(config, { platform, direct }, { id });
  expect(role("slack", OPERATOR, true)).toBe("operator");
  expect(role("discord", OPERATOR, true)).toBe("person");
  expect(role("slack", `${OPERATOR}0`, true)).toBe("person");
  expect(role("slack", "U1", false)).toBe("group");
  expect(roleOf(configOf(), { platform: "slack", direct: true }, { id: "U1" })).toBe("operator");
  expect(roleOf(configOf(), { platform: "slack", direct: false }, { id: "U1" })).toBe("group");
  const may = (direct: boolean, ...ids: string[]) =>
    rightsOf(
      config,
      { platform: "slack", direct },
      ids.map((id) => ({ id })),
    )("seeDeployment");
  expect([may(true, OPERATOR), may(true, OPERATOR, "U1"), may(true, "U1"), may(false, OPERATOR)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test.each<[Capability, string]>([
  ["fetchWeb", "web_fetch"],
  ["schedule", "schedule"],
])("%s is offered to the roles that have it, and to no other", async (capability, tool) => {
  for (const role of ROLES) {
    expect((await offered(role, { [capability]: [role] })).tools).toContain(tool);
    expect((await offered(role, { [capability]: ROLES.filter((one) => one !== role) })).tools).not.toContain(
      tool,
    );
  }
});

test("a tool that is not offered does not run either", async () => {
  const bench = await agentBench({ agent: { may: { fetchWeb: [] } } });
  const { answer } = bench.start();
  bench.next(calls({ id: "1", name: "web_fetch", input: { url: "https://example.com/" } }));
  await answer(askedBy("person", "1"));
  expect(JSON.stringify(bench.asked.at(-1)?.messages)).toContain("There is no tool web_fetch.");
});

test("without the right to read it, nothing of the workspace reaches the model; the chat has a folder of its own", async () => {
  const bench = await agentBench({
    agent: { may: { readWorkspace: ["operator"] }, operators: [`slack:${OPERATOR}`] },
  });
  const { answer } = bench.start();
  bench.next(calls({ id: "1", name: "write_file", input: { path: "USER.md", text: "The user likes tea." } }));
  await answer(askedBy("operator", "1"));
  bench.next(
    calls(
      { id: "2", name: "read_file", input: { path: "USER.md" } },
      { id: "3", name: "list_files", input: {} },
      { id: "4", name: "write_file", input: { path: "USER.md", text: "x" } },
      { id: "5", name: "write_file", input: { path: "chats/slack-C-person/own.md", text: "mine" } },
      { id: "6", name: "read_file", input: { path: "chats/slack-C-person/own.md" } },
    ),
  );
  await answer(askedBy("person", "2"));
  const asked = bench.asked.slice(2);
  expect(JSON.stringify(asked)).not.toContain("likes tea");
  const results = JSON.stringify(asked.at(-1)?.messages);
  expect(results.match(/Of the workspace this chat has chats\/slack-C-person\/ alone/g)).toHaveLength(2);
  expect(results).toContain("written below chats/slack-C-person/ only");
  expect(results).toContain("mine");
  await answer(askedBy("operator", "3"));
  expect(bench.asked.at(-1)?.instructions).toContain("likes tea");
});

test("messages go to chats that the config names, and from those who may not, to their own", async () => {
  const settings = (role: Role) => ({
    tools: { sendMessage: { to: [{ platform: "slack", chat: "C9" }] } },
    agent: { operators: [`slack:${OPERATOR}`], may: { sendElsewhere: ROLES.filter((one) => one !== role) } },
  });
  for (const role of ["person", "group"] as const) {
    const bench = await agentBench(settings(role));
    const { answer } = bench.start();
    const say = (id: string, chat: string) => ({
      id,
      name: "send_message",
      input: { platform: "slack", chat, text: "hi" },
    });
    bench.next(calls(say("1", "C9"), say("2", `C-${role}`)));
    await answer(askedBy(role, "1"));
    expect(bench.sent.map(({ chat }) => chat)).toEqual([`C-${role}`]);
  }
});
