import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { platformSchema } from "../contract/delivery.ts";
import { StewardError } from "../contract/errors.ts";
import type { DeviceRequest } from "../shared/devices.ts";
import { parseJson } from "../shared/json.ts";
import { pendingDevice } from "./devices.ts";
import { roleSchema } from "./granted.ts";
import { always, argument, operation, SEAL_LENGTH } from "./operation.ts";
import { request } from "./pairing.ts";

const takenSchema = () => {
  const rows = z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])));
  const device = z.custom<DeviceRequest>((value) => pendingDevice().safeParse(value).success);
  return z.union([
    z.object({ channel: platformSchema, request: z.extend(request(), { lastSeenAt: z.iso.datetime() }) }),
    z.object({ channel: platformSchema, sender: z.string(), role: roleSchema() }),
    z.object({ device }),
    z.object({ deviceId: z.string(), at: z.number() }),
    z.object({ schedules: rows, schedule_runs: rows }),
  ]);
};

/** Restores what an operation removed, if nothing has changed since. */
export const undo = operation({
  name: "undo",
  summary: "undoes a rejection, a revocation or a removal",
  rights: ["console"],
  input: () => z.strictObject({ record: argument(z.string(), "the `undo` value of its result") }),
  changes: always,
  async run(tools, { record }) {
    const text = record.slice(SEAL_LENGTH);
    const { data } = takenSchema().safeParse(parseJson(text));
    // The digest differs if the masking of secrets has altered the record.
    const isWhole = data !== undefined && record.slice(0, SEAL_LENGTH) === (await sha256Hex(text));
    const isBack =
      isWhole &&
      ("schedules" in data
        ? await tools.schedules((_, store) => store.restore(data))
        : "channel" in data
          ? (await tools.pairing())(data.channel).restore(data)
          : (await tools.devices()).restore(data));
    if (!isBack) throw new StewardError("undo_changed");
    return {};
  },
  text: () => "Undone.",
});
