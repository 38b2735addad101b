import { expect, test } from "vitest";
import { CHAT_CLOSE } from "../../../runtime/contract/chat.ts";
import { ChatRelay } from "../../../runtime/edge/chat-relay.ts";
import type { PageSocket } from "../../../runtime/edge/page-sockets.ts";

/** A socket that keeps what is sent, and receives what a test says. */
function socket() {
  const sent: string[] = [];
  const listeners: ((event: { data: unknown }) => void)[] = [];
  const ends: ((event: { code: number }) => void)[] = [];
  const one: PageSocket = {
    readyState: 1,
    send: (data) => void sent.push(data),
    close: () => {},
    addEventListener: (type: string, listener: (event: never) => void) => {
      if (type === "message") listeners.push(listener as (event: { data: unknown }) => void);
      if (type === "close") ends.push(listener as (event: { code: number }) => void);
    },
  };
  const end = (code: number) => {
    for (const listener of ends) listener({ code });
  };
  const receive = (data: unknown) => {
    for (const listener of listeners) listener({ data });
  };
  return { one, sent, receive, end };
}

const HELLO = {
  type: "hello",
  deviceId: "a".repeat(64),
  publicKey: "k".repeat(43),
  displayName: "Test",
  signature: "s".repeat(86),
};

test("a message of another form reaches the page, and counts for nothing", () => {
  let uses = 0;
  const relay = new ChatRelay({ onUse: () => void (uses += 1) });
  const [page, gateway] = [socket(), socket()];
  relay.join(page.one, gateway.one);
  const odd = ["no JSON", "null", "[]", '{"type":"accepted"}', '{"type":"answer"}'];
  for (const data of odd) gateway.receive(data);
  expect(page.sent).toEqual(odd);
  expect([relay.answering, uses]).toEqual([false, 0]);
  gateway.receive('{"type":"welcome","running":3}');
  gateway.receive('{"type":"accepted","id":"a"}');
  expect([relay.answering, uses]).toEqual([true, 2]);
});

test("a withdrawn message is not answered any more, and the answers of all conversations count", () => {
  const relay = new ChatRelay({ onUse: () => {} });
  const [page, gateway] = [socket(), socket()];
  relay.join(page.one, gateway.one);
  gateway.receive('{"type":"welcome","running":[]}');
  gateway.receive('{"type":"opened","conversation":"b","running":["in another one"]}');
  expect(relay.answering).toBe(true);
  gateway.receive('{"type":"accepted","id":"a","conversation":"b"}');
  gateway.receive('{"type":"answer","id":"in another one"}');
  expect(relay.answering).toBe(true);
  gateway.receive('{"type":"removed","id":"a","conversation":"b"}');
  expect(relay.answering).toBe(false);
});

/** A page that has sent these messages, and the devices that its relay has told of. */
function paged(...messages: object[]) {
  const told: [string, boolean][] = [];
  const relay = new ChatRelay({ onUse: () => {}, onDevice: (...device) => void told.push(device) });
  const [page, gateway] = [socket(), socket()];
  relay.join(page.one, gateway.one);
  for (const message of messages) page.receive(JSON.stringify(message));
  return { page, gateway, told };
}

test("a device counts as let in once its gateway says so, and as refused once that revokes it", () => {
  const { gateway, told } = paged(HELLO);
  expect(told).toEqual([]);
  gateway.receive('{"type":"welcome","running":[]}');
  gateway.end(CHAT_CLOSE.revoked);
  expect(told).toEqual([
    [HELLO.deviceId, true],
    [HELLO.deviceId, false],
  ]);
});

test("a page cannot speak for another device, neither by a later message nor by how it closes", () => {
  const late = paged({ type: "say", id: "1", text: "hello" }, HELLO);
  late.gateway.receive('{"type":"welcome","running":[]}');
  expect(late.told).toEqual([]);
  const closing = paged(HELLO);
  closing.page.end(CHAT_CLOSE.revoked);
  expect(closing.told).toEqual([]);
});
