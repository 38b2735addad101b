import { type AdmittedBrowser, CHAT_CLOSE, CHAT_MESSAGE_BYTES } from "../../contract/chat.ts";
import { ERRORS } from "../../contract/errors.ts";
import { DeviceDoor } from "../../shared/device-door.ts";
import { type AdmittedDevice, type DeviceEntry, grantedTo, type NewDevice } from "../../shared/devices.ts";
import { closeSocket, type PageSocket, sendIfOpen } from "../page-sockets.ts";

const HELLO_MS = 10_000;
/** Milliseconds between checks for a waiting browser's approval. */
const LOOK_MS = 2_000;
/** Milliseconds between attempts to reach a gateway that is starting. */
const START_MS = 1_000;
const MAX_STARTS = 60;

export interface BrowserDoorOptions {
  origin: string;
  remoteIp: string;
  enter(device: NewDevice, known?: string): Promise<DeviceEntry>;
  /** Starts the browser's gateway and connects the page. @returns false until the gateway answers. */
  open(browser: AdmittedBrowser): Promise<boolean>;
}

/** Authenticates a browser, then connects it to its gateway. A page that waits for approval uses no container. */
export function receiveBrowser(page: PageSocket, options: BrowserDoorOptions): void {
  let isJoined = false;
  let isEnded = false;
  const door = new DeviceDoor({
    ...options,
    wire: {
      send: (message) => sendIfOpen(page, JSON.stringify(message)),
      close: (code, reason) => closeSocket(page, code, reason),
    },
    onPaired: (device) => void join(device).catch(() => closeSocket(page, CHAT_CLOSE.restart, "failed")),
  });
  const late = setTimeout(() => door.isNew && door.close(CHAT_CLOSE.late, "no hello"), HELLO_MS);
  const looks = setInterval(() => void door.look(), LOOK_MS);
  const end = (): void => {
    isEnded = true;
    clearTimeout(late);
    clearInterval(looks);
  };

  async function join(device: AdmittedDevice): Promise<void> {
    const { deviceId, displayName } = device;
    for (let attempt = 0; attempt < MAX_STARTS; attempt += 1) {
      if (isEnded) return;
      isJoined = await options.open({ deviceId, displayName, role: grantedTo(device) });
      if (isJoined) return clearInterval(looks);
      await new Promise((resolve) => setTimeout(resolve, START_MS));
    }
    closeSocket(page, CHAT_CLOSE.restart, ERRORS.gateway_unavailable.cause);
  }

  page.addEventListener("message", ({ data }) => {
    if (isJoined) return;
    const isShort = typeof data === "string" && data.length <= CHAT_MESSAGE_BYTES;
    if (door.isOpen && isShort) return void door.receive(data);
    // The message is too long, or arrived after the admission but before the gateway was connected.
    closeSocket(page, CHAT_CLOSE.invalid, "not in this order");
  });
  page.addEventListener("close", end);
  page.addEventListener("error", end);
}
