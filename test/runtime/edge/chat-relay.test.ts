import { expect, test } from "vitest";
import { ChatRelay } from "../../../runtime/edge/chat-relay.ts";
import type { PageSocket } from "../../../runtime/edge/page-sockets.ts";

/** A socket that keeps what is sent, and receives what a test says. */
function socket() {
  const sent: string[] = [];
  const listeners: ((event: { data: unknown }) => void)[] = [];
  const one: PageSocket = {
    readyState: 1,
    send: (data) => void sent.push(data),
    close: () => {},
    addEventListener: (type: string, listener: (event: never) => void) => {
      if (type === "message") listeners.push(listener as (event: { data: unknown }) => void);
    },
  };
  const receive = (data: unknown) => {
    for (const listener of listeners) listener({ data });
  };
  return { one, sent, receive };
}

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
