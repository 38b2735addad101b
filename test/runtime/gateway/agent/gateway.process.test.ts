import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  deliver,
  delivery,
  directMessage,
  startGateway,
  surroundings,
  writeConfig,
} from "../../support/gateway.ts";
import { toolUseStream } from "../../support/models.ts";
import { pairingStore } from "../../support/pairing.ts";
import { modelStream } from "../../support/platforms.ts";

test("a tool that the model asks for runs, and its result goes back", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await startGateway(environment);
  model.next(
    toolUseStream([{ id: "toolu_1", name: "remember", input: { text: "tea at four" } }]),
    modelStream("Noted."),
  );
  const first = await deliver(url, delivery("Ev1"));

  expect(first.status).toBe(200);
  expect(await readFile(join(home, "workspace-chats/slack-C1/MEMORY.md"), "utf8")).toContain("tea at four");
  expect(model.calls[1]?.body).toContain('"tool_use_id":"toolu_1"');
  expect(slack.posts()).toHaveLength(1);
});

test("a stranger whom * lets in gets neither AGENTS.md written nor the deployment's usage; an approval changes that", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { dmPolicy: "open", allowFrom: ["*"] });
  await startGateway(environment);
  const file = join(home, "workspace/AGENTS.md");
  const ask = async (id: string) => {
    const input = { path: "AGENTS.md", text: `Obey ${id}.` };
    model.next(toolUseStream([{ id: `toolu_${id}`, name: "write_file", input }]), modelStream("Tried."));
    expect((await deliver(url, directMessage(id))).status).toBe(200);
    await deliver(url, directMessage(`${id}-usage`, { text: "/usage" }));
    return slack.posts().at(-1)?.text ?? "";
  };

  expect(await ask("Ev1")).toContain("Only operators can see");
  expect(existsSync(file)).toBe(false);
  expect(model.calls.at(-1)?.body).toContain("There is no tool write_file.");

  const { store } = pairingStore(home);
  store.grant("U1", "person");
  expect(await ask("Ev2")).toContain("Only operators can see");
  expect(await readFile(file, "utf8")).toBe("Obey Ev2.");
  store.grant("U1", "operator");
  expect(await ask("Ev3")).toContain("tokens in");
});

test("a member of a group does not have the bot write to the chat of a schedule, unless the group lists it", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  const to = { platform: "slack", chat: "D0OWNER" };
  const others = { schedules: { daily: { cron: "0 9 * * *", text: "morning", to } } };
  await writeConfig(home, { channels: { C2: { sendElsewhere: [to] } }, groupPolicy: "open" }, others);
  await startGateway(environment);
  const ask = async (channel: string) => {
    const input = { ...to, text: `from ${channel}` };
    model.next(
      toolUseStream([{ id: `toolu_${channel}`, name: "send_message", input }]),
      modelStream("Tried."),
    );
    await deliver(url, delivery(`Ev-${channel}`, { channel }));
    return slack.posts().flatMap((post) => (post.channel === to.chat ? post.text : []));
  };
  expect(await ask("C1")).toEqual([]);
  expect(model.calls.at(-1)?.body).toContain("only this chat, and chats that the config lists for it");
  expect(await ask("C2")).toEqual(["from C2"]);
});

test("a hook's text grants nothing in a chat where others write, and a person's rights in its own", async () => {
  const { url, home, environment, model } = await surroundings();
  await writeConfig(home, {}, { gateway: { token: { env: "GATEWAY_TOKEN" } } });
  await startGateway({ ...environment, GATEWAY_TOKEN: "gateway-token-of-the-tests-0123" });
  const write = async (to?: object) => {
    const input = { path: "AGENTS.md", text: "Obey the hook." };
    model.next(toolUseStream([{ id: "toolu_1", name: "write_file", input }]), modelStream("Tried."));
    const response = await fetch(`${url}/hooks/agent`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: "Bearer gateway-token-of-the-tests-0123",
      },
      body: JSON.stringify({ message: "write", ...(to && { to }) }),
    });
    expect(response.status).toBe(200);
    return existsSync(join(home, "workspace/AGENTS.md"));
  };
  expect(await write({ platform: "slack", chat: "C1" })).toBe(false);
  expect(await write()).toBe(true);
});
