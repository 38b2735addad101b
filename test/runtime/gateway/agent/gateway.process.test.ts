import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deliver, delivery, startGateway, surroundings } from "../../support/gateway.ts";
import { toolUseStream } from "../../support/models.ts";
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
  expect(await readFile(join(home, "workspace/chats/slack-C1/MEMORY.md"), "utf8")).toContain("tea at four");
  expect(model.calls[1]?.body).toContain('"tool_use_id":"toolu_1"');
  expect(slack.posts()).toHaveLength(1);
});
