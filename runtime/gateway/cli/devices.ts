import { Argument, type Command, Option } from "commander";
import { GRANTED_ROLES, type GrantedRole } from "../../contract/config/rights.ts";
import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import { type DeviceRequest, DeviceStore, grantedTo, isUsable, type PairedDevice } from "../devices.ts";
import { type CommandContext, grantedText, type JsonOption } from "./context.ts";

/** So much of an id is shown; any unique beginning of it is understood. */
const SHORT = 12;

/** `steward devices list|approve|reject|grant|revoke`. They work on the stores, so the gateway may be down. */
export function addDeviceCommands(program: Command, { settings, output }: CommandContext): void {
  const store = new DeviceStore({
    home: settings.home,
    clock: Date.now,
    onSetAside: ({ path, movedTo, problem }) =>
      output.warn(`${path} could not be read (${problem}). It was set aside as ${movedTo}.`),
  });
  const devices = program.command("devices").description("the browsers that may use the web chat");

  devices
    .command("list")
    .description("the devices that wait for approval, and those that have it")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const [pending, paired] = [store.pending(), store.paired()];
      output.answer(json, { pending, paired: paired.map(withoutSecrets) }, listText(pending, paired));
    });

  devices
    .command("approve")
    .description("let the device of a request use the web chat, with a person's rights")
    .argument("<requestId>", "as `devices list` shows it, or any unique beginning of it")
    .addOption(new Option("--operator", "with an operator's rights"))
    .option("--json", "as JSON")
    .action((given: string, { json, operator }: JsonOption & { operator?: boolean }) => {
      const role = operator ? "operator" : "person";
      const device = found(store.approve(request(given), role), "device_request_unknown", given);
      const text = `Approved device ${named(device)}.\n${grantedDevice(role, device)}`;
      output.answer(json, { approved: withoutSecrets(device), role }, text);
    });

  devices
    .command("grant")
    .description("give an approved device a role in the web chat")
    .argument("<deviceId>", "as `devices list` shows it, or any unique beginning of it")
    .addArgument(new Argument("<role>", "its rights").choices(GRANTED_ROLES))
    .option("--json", "as JSON")
    .action((given: string, role: GrantedRole, { json }: JsonOption) => {
      const device = found(store.grant(paired(given), role), "device_unknown", given);
      output.answer(json, { granted: withoutSecrets(device), role }, grantedDevice(role, device));
    });

  const command = (name: string, id: string, description: string, run: (id: string) => Told): void => {
    devices
      .command(name)
      .description(description)
      .argument(`<${id}>`, "as `devices list` shows it, or any unique beginning of it")
      .option("--json", "as JSON")
      .action((given: string, { json }: JsonOption) => {
        const { value, text } = run(given);
        output.answer(json, value, text);
      });
  };
  const request = (given: string): string =>
    whole(
      given,
      store.pending().map(({ requestId }) => requestId),
      "device_request_unknown",
    );
  const paired = (given: string): string =>
    whole(
      given,
      store.paired().map(({ deviceId }) => deviceId),
      "device_unknown",
    );
  command("reject", "requestId", "drop a request", (given) => {
    const dropped = found(store.reject(request(given)), "device_request_unknown", given);
    return { value: { rejected: dropped }, text: `Rejected device ${named(dropped)}.` };
  });
  command("revoke", "deviceId", "revoke a device's access, immediately and permanently", (given) => {
    const device = found(store.revoke(paired(given)), "device_unknown", given);
    return { value: { revoked: withoutSecrets(device) }, text: `Revoked device ${named(device)}.` };
  });
}

interface Told {
  value: unknown;
  text: string;
}

/** The one id that begins with what was given. */
function whole(given: string, ids: readonly string[], unknown: ErrorCode): string {
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

function named({ deviceId, displayName }: Pick<PairedDevice, "deviceId" | "displayName">): string {
  const name = displayName.replace(/\p{C}/gu, "");
  return `${deviceId.slice(0, SHORT)}${name === "" ? "" : ` (${name})`}`;
}

function grantedDevice(role: GrantedRole, { deviceId }: PairedDevice): string {
  return grantedText(role, ["devices", "grant", deviceId.slice(0, SHORT)]);
}

function withoutSecrets(device: PairedDevice): object {
  const tokens = Object.entries(device.tokens).map(([role, token]) => [role, { ...token, token: undefined }]);
  return { ...device, tokens: Object.fromEntries(tokens) };
}

function listText(pending: readonly DeviceRequest[], paired: readonly PairedDevice[]): string {
  if (pending.length + paired.length === 0) return "No device pairing entries.";
  const time = (ms: number): string => new Date(ms).toISOString();
  const sections: string[] = [];
  if (pending.length > 0) {
    const rows = pending.map((one) => [
      one.requestId.slice(0, SHORT),
      one.deviceId.slice(0, SHORT),
      one.displayName,
      one.remoteIp,
      time(one.ts),
    ]);
    sections.push(
      `Pending (${pending.length})\n${table(["Request", "Device", "Name", "Address", "Requested"], rows)}`,
    );
  }
  if (paired.length > 0) {
    const rows = paired.map((one) => [
      one.deviceId.slice(0, SHORT),
      one.displayName,
      one.role,
      isUsable(one) ? "paired" : "revoked",
      time(one.approvedAtMs),
      isUsable(one) ? grantedTo(one) : "none",
    ]);
    sections.push(
      `Paired (${paired.length})\n${table(["Device", "Name", "Role", "State", "Approved", "Rights"], rows)}`,
    );
  }
  return sections.join("\n\n");
}
