import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery } from "./gateway.ts";
import { eventually } from "./processes.ts";

/** A promise that a test resolves. */
export function gate() {
  return Promise.withResolvers<void>();
}

/** Hands a mention with its own text over. */
export const say = (url: string, id: string, text: string, extra: object = {}) =>
  deliver(url, { ...said(id, text), ...extra });

/** A mention with its own text. */
export const said = (id: string, text: string) => delivery(id, { text: `<@UBOT> ${text}` });

/** Once all that was handed over so far is under way. */
export const active = (url: string, count: number) =>
  eventually(async () => (await askJson<GatewayStatus>(`${url}/status`)).counts.active === count);
