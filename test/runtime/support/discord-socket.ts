import { EventEmitter } from "node:events";
import type { Socket } from "../../../runtime/host/discord/connection.ts";
import type { Session } from "../../../runtime/host/discord/protocol.ts";
import { BOT_USER } from "../../support/discord.ts";

export const SESSION: Session = { id: "s-1", url: "wss://a.discord.gg", user: BOT_USER, sequence: 7 };
export const HELLO = { op: 10, d: { heartbeat_interval: 40_000 } };
export const READY = {
  op: 0,
  t: "READY",
  s: 1,
  d: { user: { id: BOT_USER }, session_id: "s-2", resume_gateway_url: "wss://b.discord.gg" },
};

/** A WebSocket in which the test is Discord. */
export function fakeSocket() {
  const events = new EventEmitter();
  const sent: { op: number; d: unknown }[] = [];
  const state = { isEnded: false, isPaused: false };
  const socket = {
    on: (name: string, listener: (...given: unknown[]) => void) => events.on(name, listener),
    send: (text: string) => void sent.push(JSON.parse(text)),
    terminate: () => {
      state.isEnded = true;
    },
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
    },
  } as unknown as Socket;
  return {
    socket,
    sent,
    state,
    /** Payloads of Discord's. */
    says: (...payloads: unknown[]) => {
      for (const payload of payloads) events.emit("message", JSON.stringify(payload), false);
    },
    closes: (code: number) => void events.emit("close", code),
    fails: (message: string) => void events.emit("error", new Error(message)),
  };
}

/** Lets promises settle that wait for nothing else. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}
