import { StewardError } from "../../contract/errors.ts";
import { pairing } from "../../operations/pairing.ts";
import { operate } from "../operate.ts";
import type { Sandbox } from "../ports.ts";
import type { People } from "./people.ts";

/** Dependencies of {@link adoptApprovals}. */
interface AdoptOptions {
  /** The sandbox that served every chat, and still serves browsers. */
  sandbox: Sandbox;
  /** True if that sandbox has ever had a state. */
  hasState(): Promise<boolean>;
  people: People;
}

/**
 * Takes the approvals over that an operator gave while one sandbox served every chat: nobody who was let in has to ask
 * again. Starts that sandbox's container.
 *
 * @throws StewardError if the container does not answer. Nothing is taken over then.
 */
export async function adoptApprovals({ sandbox, hasState, people }: AdoptOptions): Promise<void> {
  if (!(await hasState())) return;
  const answer = await operate(sandbox, pairing.list, {});
  if (!("channels" in answer)) throw new StewardError("command_failed");
  for (const { channel, approved: allowFrom, operators } of answer.channels)
    people.adopt(channel, { allowFrom, operators });
}
