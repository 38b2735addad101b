import { expect, test } from "vitest";
import { json, modelStream } from "../support/platforms.ts";
import { ask, delivery, startGateway, surroundings } from "../support/gateway.ts";

/** Hands events and wanted names to a gateway; gives the lines of its answer, the one of names first. */
async function lines(url: string, body: object): Promise<Record<string, unknown>[]> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const text = await (await ask(`${url}/deliveries/chat`, init)).text();
  const read = text.trimEnd().split("\n");
  return read.map((line) => JSON.parse(line)).sort((a, b) => Number("names" in b) - Number("names" in a));
}

const person = (key: string) => ({ key, kind: "person" });

test("names that the edge wants are asked of the platform, and a refusal stops no answer", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  slack.catalog((response, call) => {
    const { user, channel } = Object.fromEntries(new URLSearchParams(call.body));
    const profile = { display_name: "", real_name: "Ada Lovelace" };
    if (user === "U1") return json(200, { ok: true, user: { name: "ada", profile } })(response, call);
    if (channel === "C1") return json(200, { ok: true, channel: { name: "engines" } })(response, call);
    return json(200, { ok: false, error: "missing_scope" })(response, call);
  });
  model.next(modelStream("Hello", { delayMs: 200 }));
  const names = [
    person("slack:U1"),
    { key: "slack:C1", kind: "channel" },
    person("slack:U2"),
    person("telegram:7"),
  ];

  const [learned, end, ...others] = await lines(url, { deliveries: [delivery("Ev1")], names });

  expect(learned).toEqual({
    names: [
      { key: "slack:U1", name: "Ada Lovelace" },
      { key: "slack:C1", name: "engines" },
      { key: "slack:U2" },
      { key: "telegram:7" },
    ],
  });
  expect(end).toMatchObject({ index: 0, status: 200, body: { outcome: "answered" }, admitted: "group" });
  expect(end?.["firstWordMs"]).toBeGreaterThanOrEqual(0);
  expect(end?.["firstWordMs"]).toBeLessThan(5_000);
  expect(others).toEqual([]);
  const infos = slack.catalogCalls.filter(({ path }) => path.endsWith(".info"));
  expect(infos.map(({ path, body }) => `${path} ${body}`).sort()).toEqual([
    "/api/conversations.info channel=C1",
    "/api/users.info user=U1",
    "/api/users.info user=U2",
  ]);
});

test("an edge that wants no names gets none, and a stranger has no reason to be admitted", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);
  const direct = delivery("Ev2", { type: "message", channel: "D1", channel_type: "im", user: "U9" });
  const answers = await lines(url, { deliveries: [direct] });
  expect(answers).toEqual([{ index: 0, status: 200, body: { outcome: "answered" } }]);
  expect(slack.catalogCalls.filter(({ path }) => path.endsWith(".info"))).toEqual([]);
});
