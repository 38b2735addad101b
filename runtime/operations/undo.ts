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

/** Forms of what removals return as `undo`. */
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

/** Restores what an operation removed, exactly, and only if nothing has changed since. A page offers it, for seconds. */
export const undo = operation({
  name: "undo",
  summary: "restores what a rejection, a revocation or a removal took",
  rights: ["console"],
  input: () => z.strictObject({ record: argument(z.string(), "`undo` of its answer") }),
  changes: always,
  async run(tools, { record }) {
    const text = record.slice(SEAL_LENGTH);
    const { data } = takenSchema().safeParse(parseJson(text));
    // A secret in it may have been masked on its way.
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
