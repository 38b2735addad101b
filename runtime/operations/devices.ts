import * as z from "zod/mini";
import type { GrantedRole } from "../contract/config/rights.ts";
import { type ErrorCode, StewardError } from "../contract/errors.ts";
import { grantedTo, isUsable, type PairedDevice, SHORT_ID } from "../shared/devices.ts";
import { table } from "../shared/table.ts";
import { grantedText, roleSchema } from "./granted.ts";
import { always, argument, EVERYWHERE, flag, operation, sealRecord } from "./operation.ts";

const id = () =>
  argument(z.string().check(z.minLength(1)), "as `devices list` shows it, or any unique beginning of it");
const requestId = () => z.strictObject({ requestId: id() });
const deviceId = () => z.strictObject({ deviceId: id() });

export const pendingDevice = () =>
  z.object({
    requestId: z.string(),
    deviceId: z.string(),
    displayName: z.string(),
    remoteIp: z.string(),
    ts: z.number(),
  });
const pairedDevice = () =>
  z.object({
    deviceId: z.string(),
    publicKey: z._default(z.string(), ""),
    displayName: z.string(),
    role: z.string(),
    approvedAtMs: z.number(),
    scopes: z._default(z.array(z.string()), []),
    tokens: z.record(z.string(), z.object({ revokedAtMs: z.optional(z.number()) })),
  });
type Named = Pick<PairedDevice, "deviceId" | "displayName">;
type Paired = z.infer<ReturnType<typeof pairedDevice>>;

/** `steward devices`. Works on the stored files, so the gateway may be down. */
export const devices = {
  list: operation({
    name: "devices list",
    summary: "pending and approved devices",
    rights: EVERYWHERE,
    output: () => z.object({ pending: z.array(pendingDevice()), paired: z.array(pairedDevice()) }),
    async run(tools) {
      const store = await tools.devices();
      return { pending: store.pending(), paired: store.paired().map(withoutSecrets) };
    },
    text: ({ pending, paired }) => listText(pending, paired),
  }),
  approve: operation({
    name: "devices approve",
    summary: "let a device use the web chat, with a person's rights",
    rights: EVERYWHERE,
    input: () =>
      z.extend(requestId(), {
        operator: flag("with an operator's rights"),
      }),
    changes: always,
    async run(tools, { requestId, operator }) {
      const role = operator ? "operator" : "person";
      const store = await tools.devices();
      const device = store.approve(pendingId(store, requestId), role);
      return { approved: withoutSecrets(found(device, "device_request_unknown", requestId)), role } as const;
    },
    text: ({ approved, role }) => `Approved device ${named(approved)}.\n${grantedDevice(role, approved)}`,
  }),
  reject: operation({
    name: "devices reject",
    summary: "reject a device's request",
    rights: EVERYWHERE,
    input: requestId,
    changes: always,
    async run(tools, { requestId }) {
      const store = await tools.devices();
      const dropped = store.reject(pendingId(store, requestId));
      const rejected = found(dropped, "device_request_unknown", requestId);
      return { rejected, undo: await sealRecord({ device: rejected }) };
    },
    text: ({ rejected }) => `Rejected device ${named(rejected)}.`,
  }),
  grant: operation({
    name: "devices grant",
    summary: "give an approved device a role in the web chat",
    rights: EVERYWHERE,
    input: () => z.extend(deviceId(), { role: argument(roleSchema(), "its rights") }),
    changes: always,
    async run(tools, { deviceId, role }) {
      const store = await tools.devices();
      const device = found(store.grant(pairedId(store, deviceId), role), "device_unknown", deviceId);
      return { granted: withoutSecrets(device), role };
    },
    text: ({ granted, role }) => grantedDevice(role, granted),
  }),
  revoke: operation({
    name: "devices revoke",
    summary: "revoke a device's access, immediately and permanently",
    rights: EVERYWHERE,
    input: deviceId,
    changes: always,
    async run(tools, { deviceId }) {
      const store = await tools.devices();
      const whole = pairedId(store, deviceId);
      const was = store.paired().find((one) => one.deviceId === whole);
      const device = found(store.revoke(whole), "device_unknown", deviceId);
      const at = Math.max(...Object.values(device.tokens).map(({ revokedAtMs = 0 }) => revokedAtMs));
      const undo = was && isUsable(was) && { undo: await sealRecord({ deviceId: whole, at }) };
      return { revoked: withoutSecrets(device), ...undo };
    },
    text: ({ revoked }) => `Revoked device ${named(revoked)}.`,
  }),
};

function pendingId(store: { pending(): { requestId: string }[] }, given: string): string {
  const ids = store.pending().map(({ requestId }) => requestId);
  return findFullId(given, ids, "device_request_unknown");
}

function pairedId(store: { paired(): { deviceId: string }[] }, given: string): string {
  const ids = store.paired().map(({ deviceId }) => deviceId);
  return findFullId(given, ids, "device_unknown");
}

/** Returns the only id that begins with `given`. Throws if there is none, or several. */
function findFullId(given: string, ids: readonly string[], unknown: ErrorCode): string {
  const wanted = given.trim().toLowerCase();
  const matches = wanted === "" ? [] : ids.filter((id) => id.toLowerCase().startsWith(wanted));
  if (matches.length > 1) {
    throw new StewardError("device_id_ambiguous", `${matches.length} ids begin with ${given}.`);
  }
  return found(matches[0], unknown, given);
}

function found<T>(value: T | undefined, code: ErrorCode, given: string): T {
  if (value !== undefined) return value;
  const what = code === "device_unknown" ? "paired device" : "pending device request";
  throw new StewardError(code, `No ${what} found for id: ${given}`);
}

function named({ deviceId, displayName }: Named): string {
  const name = displayName.replace(/\p{C}/gu, "");
  return `${deviceId.slice(0, SHORT_ID)}${name === "" ? "" : ` (${name})`}`;
}

function grantedDevice(role: GrantedRole, { deviceId }: Named): string {
  return grantedText(role, ["devices", "grant", deviceId.slice(0, SHORT_ID)]);
}

function withoutSecrets(device: PairedDevice) {
  const tokens = Object.entries(device.tokens).map(([role, token]) => [role, { ...token, token: undefined }]);
  return { ...device, tokens: Object.fromEntries(tokens) as Paired["tokens"] };
}

function listText(pending: z.infer<ReturnType<typeof pendingDevice>>[], paired: Paired[]): string {
  if (pending.length + paired.length === 0) return "No device pairing entries.";
  const time = (ms: number): string => new Date(ms).toISOString();
  const sections: string[] = [];
  if (pending.length > 0) {
    const rows = pending.map((one) => [
      one.requestId.slice(0, SHORT_ID),
      one.displayName,
      one.deviceId.slice(0, SHORT_ID),
      one.remoteIp,
      time(one.ts),
    ]);
    sections.push(
      `Pending (${pending.length})\n${table(["Request", "Name", "Device", "Address", "Requested"], rows)}`,
    );
  }
  if (paired.length > 0) {
    const rows = paired.map((one) => [
      one.displayName,
      one.deviceId.slice(0, SHORT_ID),
      one.role,
      isUsable(one) ? "paired" : "revoked",
      time(one.approvedAtMs),
      isUsable(one) ? grantedTo(one) : "none",
    ]);
    sections.push(
      `Paired (${paired.length})\n${table(["Name", "Device", "Role", "State", "Approved", "Rights"], rows)}`,
    );
  }
  return sections.join("\n\n");
}
