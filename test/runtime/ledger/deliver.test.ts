import { expect, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";
import { deliverTo } from "../../../runtime/edge/ledger/deliver.ts";

const NOW = 1_795_000_000_000;

function event(id: string): Delivery {
  return { id, platform: "slack", conversation: "C1", receivedAt: NOW, payload: {} };
}

/** What becomes of the events `a1`, `a2`, … where the gateway answers so. */
async function ends(count: number, response: Response) {
  const ids = Array.from({ length: count }, (_, index) => `a${index + 1}`);
  const [first = "", ...rest] = ids;
  const told: unknown[] = [];
  const last = await deliverTo(
    {
      sandbox: { request: async () => response },
      record: ({ by, action, detail }) => void told.push(`${by}: ${action} ${detail}`),
      clock: () => NOW,
    },
    { deliveries: [event(first), ...rest.map(event)] },
    { placed: () => void told.push("placed"), ended: (id, { kind }) => void told.push(`${id} ${kind}`) },
  ).catch((error: Error) => error);
  return { told, last };
}

/** A body that comes in these pieces, and then ends or breaks off. */
function pieces(texts: readonly string[], broken = false): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      if (!broken) controller.close();
    },
    pull(controller) {
      controller.error(new Error("reset"));
    },
  });
  return new Response(body);
}

const line = (index: number, status: number, body: unknown = { outcome: "answered" }) =>
  `${JSON.stringify({ index, status, body })}\n`;

test("each event ends by its own line, however the lines are cut; what has none comes again", async () => {
  const text = line(1, 400) + line(0, 200, { outcome: "ignored", note: "an edit" });
  expect(await ends(3, pieces(text.split(/(?<=\W)/)))).toEqual({
    told: ["placed", "a2 refused", "a1 settled"],
    last: { kind: "retry", note: "The gateway reported no result.", absent: true },
  });
});

test("a connection that breaks ends what was told before, and a half line tells nothing", async () => {
  const { told, last } = await ends(2, pieces([line(0, 200), line(1, 200).slice(0, 20)], true));
  expect(told).toEqual(["placed", "a1 settled"]);
  expect(last).toBeInstanceOf(Error);
});

test.each([
  [
    "a gateway that is older than the request",
    new Response("", { status: 404 }),
    { kind: "retry", absent: true },
  ],
  ["a gateway that stops", problemResponse(problem("gateway_unavailable")), { kind: "retry", absent: true }],
  ["a request that says nothing of each", problemResponse(problem("delivery_invalid")), { kind: "retry" }],
])("%s gives all of them back", async (_name, response, last) => {
  expect(await ends(2, response)).toMatchObject({ told: [], last });
});

test("what an event itself changed is recorded, once it has ended", async () => {
  const body = { outcome: "ignored", note: "moved", change: { action: "move", detail: "-9 is -1009 now" } };
  const { told } = await ends(1, pieces([line(0, 200, body)]));
  expect(told).toEqual(["placed", "Slack: move -9 is -1009 now", "a1 settled"]);
});

test("an event that is alone is refused with its request", async () => {
  expect(await ends(1, problemResponse(problem("delivery_invalid")))).toMatchObject({
    last: { kind: "refused" },
  });
});

test("names that were wanted are told as they come, and others are left out; an end says what else is known", async () => {
  const wanted = (key: string) => ({ key, kind: "person" }) as const;
  const learned: unknown[] = [];
  const results: unknown[] = [];
  const names = [{ key: "slack:U1", name: "Ada" }, { key: "slack:U2" }, { key: "slack:U3", name: "Eve" }];
  const end = { index: 0, status: 200, body: { outcome: "answered" }, firstWordMs: 7, admitted: "group" };
  await deliverTo(
    {
      sandbox: {
        request: async () => pieces([`${JSON.stringify({ names })}\n${JSON.stringify(end)}\n`]),
      },
      record: () => {},
      clock: () => NOW,
    },
    { deliveries: [event("a1")], names: [wanted("slack:U1"), wanted("slack:U2")] },
    {
      placed: () => {},
      ended: (_, result) => void results.push(result),
      named: (known) => void learned.push(...known),
    },
  );
  expect(learned).toEqual(names.slice(0, 2));
  expect(results).toEqual([
    expect.objectContaining({ state: "answered", firstWordMs: 7, admitted: "group" }),
  ]);
});
