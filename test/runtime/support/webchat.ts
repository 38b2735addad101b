import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { proofText, type ToPage } from "../../../runtime/contract/chat.ts";
import { DeviceStore } from "../../../runtime/gateway/devices.ts";
import { eventually } from "./processes.ts";

/** A device's key, as a browser makes it. */
export function newDevice() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const deviceId = createHash("sha256").update(raw).digest("hex");
  return { deviceId, publicKey: raw.toString("base64url"), privateKey };
}

/** See {@link newDevice}. */
type Device = ReturnType<typeof newDevice>;

/** The hello that answers a challenge; `signed` changes what is signed, `key` by whom. */
export function hello(
  device: Device,
  nonce: string,
  origin: string,
  signed: { nonce?: string; origin?: string; key?: KeyObject } = {},
) {
  const { deviceId, publicKey, privateKey } = device;
  const text = proofText({ nonce: signed.nonce ?? nonce, deviceId, origin: signed.origin ?? origin });
  const signature = sign(null, Buffer.from(text), signed.key ?? privateKey).toString("base64url");
  return { type: "hello", deviceId, publicKey, displayName: "Test on Linux", signature };
}

/** Opens the chat's socket at `url` (http) and collects what comes. Ended with the test. */
export function openSocket(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/chat/socket`, {
    headers: { origin: url, ...headers },
  });
  const messages: ToPage[] = [];
  const state: { closed?: number; refused?: number; retryAfter?: string } = {};
  socket.on("message", (data) => void messages.push(JSON.parse(String(data))));
  socket.on("close", (code) => (state.closed = code));
  socket.on("unexpected-response", (_, response) => {
    state.refused = response.statusCode ?? 0;
    if (response.headers["retry-after"] !== undefined) state.retryAfter = response.headers["retry-after"];
    socket.terminate();
  });
  socket.on("error", () => undefined);
  onTestFinished(() => socket.terminate());
  /** Waits for a message of a type (and id), and gives it. */
  const got = <T extends ToPage["type"]>(type: T, id?: string) =>
    eventually(() =>
      messages.find(
        (one): one is Extract<ToPage, { type: T }> =>
          one.type === type && (id === undefined || ("id" in one && one.id === id)),
      ),
    );
  return {
    messages,
    got,
    send: (message: object) => socket.send(JSON.stringify(message)),
    sendText: (text: string) => socket.send(text),
    closed: () => eventually(() => state.closed),
    /** With what code it was closed so far. */
    closeCode: () => state.closed,
    refused: () => eventually(() => state.refused),
    /** What came with the refusal. */
    retryAfter: () => state.retryAfter,
    close: () => socket.close(),
  };
}

/** Opens the socket and says hello. */
export async function openPage(url: string, device: Device, headers: Record<string, string> = {}) {
  const page = openSocket(url, headers);
  const { nonce } = await page.got("challenge");
  page.send(hello(device, nonce, url));
  return page;
}

/** The device store below `home`, on a clock that the test moves. */
export function deviceStore(home: string) {
  const time = { now: Date.now() };
  const reports: { movedTo: string; problem: string }[] = [];
  const store = new DeviceStore({
    home,
    clock: () => time.now,
    onSetAside: (report) => void reports.push(report),
  });
  return { store, time, reports };
}

/** Pairs a device without a page. */
export function pair(home: string, device: Device): void {
  const { store } = deviceStore(home);
  const { deviceId, publicKey } = device;
  const request = store.request({
    deviceId,
    publicKey,
    displayName: "Test",
    platform: "web",
    remoteIp: "192.0.2.1",
  });
  store.approve(request?.requestId ?? "");
}
