import { expect, test } from "vitest";
import { brokerPath, readBrokerUrl } from "../../../runtime/edge/tenants/routing.ts";
import { objectNameOf } from "../../../runtime/worker/tenants.ts";
import { slackEvent } from "../../support/edge.ts";

const event = (payload: Record<string, unknown>) =>
  ({ id: "1", platform: "slack", conversation: "T1:C1", receivedAt: 0, payload }) as const;

test("an event goes to its chat's object, and without a tenancy to the one of all", () => {
  expect(objectNameOf(event(slackEvent()), { tenancy: "chat" })).toBe("slack-C1");
  expect(objectNameOf(event(slackEvent()), { tenancy: "shared" })).toBe("steward");
});

test("an event of no chat goes to the object that serves the deployment", () => {
  expect(
    objectNameOf(event({ type: "event_callback", event: { type: "team_join" } }), { tenancy: "chat" }),
  ).toBe("steward");
  const long = slackEvent("Ev1", { channel: "C".repeat(200) });
  expect(objectNameOf(event(long), { tenancy: "chat" })).toBe("steward");
});

test("a container reaches the broker by a path that names its own object", () => {
  const path = brokerPath("telegram--1001");
  expect(readBrokerUrl(`https://s.example${path}/telegram/sendMessage?a=1`)).toEqual({
    tenant: "telegram--1001",
    url: "https://s.example/broker/telegram/sendMessage?a=1",
  });
  expect(readBrokerUrl(`https://s.example${brokerPath(undefined)}/slack/auth.test`)).toEqual({
    url: "https://s.example/broker/slack/auth.test",
  });
});

test.each(["/broker/tenant/", "/broker/tenant/steward/slack/auth.test", "/broker/tenant/..%2fx/slack"])(
  "no other object is reached by %s",
  (path) => {
    expect(readBrokerUrl(`https://s.example${path}`).tenant).toBeUndefined();
  },
);
