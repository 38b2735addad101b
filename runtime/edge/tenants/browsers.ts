import type { GrantedRole } from "../../contract/config/rights.ts";
import {
  type DeviceLists,
  type DeviceRequest,
  Devices,
  grantedTo,
  type PairedDevice,
  type TakenDevice,
} from "../../shared/devices.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";

interface BrowsersOptions {
  sql: Sql;
  /** `role` is absent if access was revoked. */
  onChange(deviceId: string, role: GrantedRole | undefined): void;
  clock: Clock;
}

export class Browsers extends Devices {
  readonly #lists: DeviceLists;
  readonly #onChange: BrowsersOptions["onChange"];

  constructor({ sql, onChange, clock }: BrowsersOptions) {
    sql.all("CREATE TABLE IF NOT EXISTS browsers (name TEXT PRIMARY KEY, list TEXT NOT NULL) WITHOUT ROWID");
    const read = <T>(name: string): T[] => {
      const [row] = sql.all("SELECT list FROM browsers WHERE name = ?", name);
      return row === undefined ? [] : (JSON.parse(String(row["list"])) as T[]);
    };
    const write = (name: string, list: readonly unknown[]): void => {
      sql.all("INSERT OR REPLACE INTO browsers (name, list) VALUES (?, ?)", name, JSON.stringify(list));
    };
    const lists: DeviceLists = {
      pending: () => read<DeviceRequest>("pending"),
      paired: () => read<PairedDevice>("paired"),
      writePending: (list) => write("pending", list),
      writePaired: (list) => write("paired", list),
      change: (work) => work(),
      // Required by the interface but unused: a browser proves possession of its key instead.
      token: () => crypto.randomUUID(),
      clock,
    };
    super(lists);
    this.#lists = lists;
    this.#onChange = onChange;
  }

  override grant(deviceId: string, role: GrantedRole): PairedDevice | undefined {
    const device = super.grant(deviceId, role);
    if (device !== undefined) this.#onChange(deviceId, role);
    return device;
  }

  override revoke(deviceId: string): PairedDevice | undefined {
    const device = super.revoke(deviceId);
    if (device !== undefined) this.#onChange(deviceId, undefined);
    return device;
  }

  override restore(taken: TakenDevice): boolean {
    const isBack = super.restore(taken);
    const device = "at" in taken && this.paired().find(({ deviceId }) => deviceId === taken.deviceId);
    if (isBack && device) this.#onChange(device.deviceId, grantedTo(device));
    return isBack;
  }

  /** Adds the devices that are not in the list yet. */
  adopt(devices: readonly PairedDevice[]): void {
    const known = new Map(this.paired().map((device) => [device.deviceId, device]));
    for (const device of devices) if (!known.has(device.deviceId)) known.set(device.deviceId, device);
    this.#lists.writePaired([...known.values()]);
  }

  /** Replaces the list with that of the shared sandbox, which served every chat while tenancy was off. */
  replace(devices: readonly PairedDevice[]): void {
    this.#lists.writePaired(devices);
  }
}
