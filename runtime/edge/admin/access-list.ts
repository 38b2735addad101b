import type * as z from "zod/mini";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { cat } from "../../operations/cat.ts";
import { devices } from "../../operations/devices.ts";
import { pairing, pairingFile } from "../../operations/pairing.ts";
import { grantedTo, isUsable } from "../../shared/devices.ts";
import { attempt, operate, commandTimeout } from "../operate.ts";
import type { Clock, Sandbox } from "../ports.ts";

/** Timeout in milliseconds for reading the lists of senders and browsers. */
const LISTS_MS = 7_000;
/**
 * Timeout in milliseconds for reading the pairing files, which are the fallback if the list of senders cannot be
 * read.
 */
const FILES_MS = 3_000;
/** Lifetime of a pairing request, in milliseconds. Older requests in the pairing files are ignored. */
const PAIRING_LIFE_MS = 60 * 60_000;

/** A request to write to the bot. Times are milliseconds since the epoch. */
export interface SenderRequest {
  platform: Platform;
  code: string;
  sender: string;
  name: string;
  askedAt: number;
}

export interface DeviceRequest {
  requestId: string;
  name: string;
  address: string;
  askedAt: number;
}

export interface Device {
  deviceId: string;
  name: string;
  approvedAt: number;
  revoked: boolean;
  role: GrantedRole;
}

/** A person approved by pairing, not by the config's `allowFrom`. */
export interface Person {
  platform: Platform;
  sender: string;
  role: GrantedRole;
}

export interface AccessList {
  senders: SenderRequest[];
  requests: DeviceRequest[];
  devices: Device[];
  people: Person[];
  problem?: Reason;
}

/**
 * Reads lists from the container within 10 s: access requests, people with access and browsers with access. Never
 * rejects: if a list is missing, `problem` has the reason.
 */
export async function readAccessList(sandbox: Sandbox, clock: Clock): Promise<AccessList> {
  const [senders, devices] = await Promise.all([
    attempt(LISTS_MS, listSenders(sandbox)),
    attempt(LISTS_MS, listDevices(sandbox)),
  ]);
  const failed = senders.problem ?? devices.problem;
  const problem = failed?.code === "command_timed_out" ? reason("devices_unavailable") : failed;
  return {
    people: senders.value?.people ?? [],
    senders: senders.value?.senders ?? (await sendersOfFiles(sandbox, clock)),
    ...(devices.value ?? { requests: [], devices: [] }),
    ...(problem && { problem }),
  };
}

async function listSenders(sandbox: Sandbox): Promise<Pick<AccessList, "senders" | "people">> {
  const listed = await operate(sandbox, pairing.list, {});
  const channels = "channels" in listed ? listed.channels : [listed];
  return {
    senders: channels.flatMap(({ channel, requests }) => sendersOf(channel, { requests })),
    people: channels.flatMap(({ channel, approved, operators }) =>
      approved.map((sender) => ({
        platform: channel,
        sender: shown(sender),
        role: operators.includes(sender) ? "operator" : "person",
      })),
    ),
  };
}

async function listDevices(sandbox: Sandbox): Promise<Pick<AccessList, "requests" | "devices">> {
  const { pending, paired } = await operate(sandbox, devices.list, {});
  const requests = pending.map(({ requestId, displayName, remoteIp, ts }) => ({
    requestId,
    name: shown(displayName),
    address: remoteIp,
    askedAt: ts,
  }));
  const approved = paired.map((device): Device => ({
    deviceId: device.deviceId,
    name: shown(device.displayName),
    approvedAt: device.approvedAtMs,
    role: grantedTo(device),
    revoked: !isUsable(device),
  }));
  return { requests, devices: approved };
}

/** Reads access requests directly from the pairing files. This works even if the container's commands fail. */
async function sendersOfFiles(sandbox: Sandbox, clock: Clock): Promise<SenderRequest[]> {
  const oldest = clock() - PAIRING_LIFE_MS;
  const read = async (platform: Platform): Promise<SenderRequest[]> => {
    const { text } = await operate(sandbox, cat, { file: `credentials/${platform}-pairing.json` });
    return sendersOf(platform, pairingFile().parse(JSON.parse(text)));
  };
  const files = await Promise.allSettled(
    platformSchema.options.map((one) => commandTimeout(FILES_MS, read(one))),
  );
  return files
    .flatMap((file) => (file.status === "fulfilled" ? file.value : []))
    .filter(({ askedAt }) => askedAt > oldest);
}

function sendersOf(
  platform: Platform,
  { requests }: z.infer<ReturnType<typeof pairingFile>>,
): SenderRequest[] {
  return requests.map(({ id, code, createdAt, meta }) => ({
    platform,
    code,
    sender: id,
    name: shown(meta?.["username"] ?? meta?.["firstName"] ?? ""),
    askedAt: Date.parse(createdAt),
  }));
}

/** Removes control and invisible characters from a name, including those that change the text direction. */
function shown(name: string): string {
  return name.replaceAll(/\p{C}/gu, "").slice(0, 80);
}
