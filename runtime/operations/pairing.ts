import * as z from "zod/mini";
import { type Platform, platformSchema } from "../contract/delivery.ts";
import { StewardError } from "../contract/errors.ts";
import { table } from "../shared/table.ts";
import { grantedText, roleSchema } from "./granted.ts";
import { always, argument, EVERYWHERE, flag, type Names, operation, sealRecord } from "./operation.ts";

const channel = () => argument(platformSchema, "the chat platform", "platform");
const codeInput = {
  code: argument(z.string().check(z.minLength(1)), "the sender's code, in upper or lower case"),
};
const senderInput = { sender: argument(z.string(), "the sender's id on the platform") };

export const request = () =>
  z.object({
    id: z.string(),
    code: z.string(),
    createdAt: z.iso.datetime(),
    meta: z.optional(z.record(z.string(), z.string())),
  });
const people = () =>
  z.object({
    channel: platformSchema,
    requests: z.array(request()),
    approved: z._default(z.array(z.string()), []),
    operators: z._default(z.array(z.string()), []),
  });
type People = z.infer<ReturnType<typeof people>>;

/** Schema of a pairing file in `credentials/`. */
export const pairingFile = () => z.object({ requests: z.array(request()) });

/** `steward pairing`. Works on the stored files, so the gateway may be down. */
export const pairing = {
  list: operation({
    name: "pairing list",
    summary: "pending requests and approved senders, of one channel or all",
    rights: EVERYWHERE,
    input: () => z.strictObject({ channel: z.optional(channel()) }),
    output: () => z.union([z.object({ channels: z.array(people()) }), people()]),
    async run(tools, { channel }) {
      const stores = await tools.pairing();
      const of = (channel: Platform) => ({
        channel,
        requests: stores(channel).pending(),
        approved: stores(channel).approved(),
        operators: stores(channel).operators(),
      });
      return channel === undefined ? { channels: platformSchema.options.map(of) } : of(channel);
    },
    keys: (output) =>
      ("channels" in output ? output.channels : [output]).flatMap(({ channel, requests, approved }) =>
        [...requests.map(({ id }) => id), ...approved].map((id) => `${channel}:${id}`),
      ),
    text(output, _, names) {
      if (!("channels" in output))
        return [requestsText(output, names), ...approvedText(output, names)].join("\n\n");
      const waiting = output.channels.filter(({ requests }) => requests.length > 0);
      const pending = waiting.map((one) => `${one.channel}\n${requestsText(one, names)}`);
      const shown = pending.length === 0 ? ["No pending pairing requests."] : pending;
      return [...shown, ...output.channels.flatMap((one) => approvedText(one, names))].join("\n\n");
    },
  }),
  approve: operation({
    name: "pairing approve",
    summary: "let the sender of a code write to the bot, with a person's rights",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        channel: channel(),
        ...codeInput,
        operator: flag("with an operator's rights"),
      }),
    changes: always,
    async run(tools, { channel, code, operator }) {
      const role = operator ? "operator" : "person";
      const { id } = pending((await tools.pairing())(channel).approve(code, role), code);
      return { channel, approved: id, role } as const;
    },
    text: ({ channel, approved, role }) =>
      `Approved ${channel} sender ${approved}.\n${grantedText(role, ["pairing", "grant", channel, approved])}`,
  }),
  reject: operation({
    name: "pairing reject",
    summary: "reject the request with this code",
    rights: EVERYWHERE,
    input: () => z.strictObject({ channel: channel(), ...codeInput }),
    changes: always,
    async run(tools, { channel, code }) {
      const request = pending((await tools.pairing())(channel).reject(code), code);
      return { channel, rejected: request.id, undo: await sealRecord({ channel, request }) };
    },
    text: ({ channel, rejected }) => `Rejected ${channel} sender ${rejected}.`,
  }),
  grant: operation({
    name: "pairing grant",
    summary: "give a sender a role; also approves a new sender, even without a code",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        channel: channel(),
        ...senderInput,
        role: argument(roleSchema(), "its rights"),
      }),
    changes: always,
    async run(tools, { channel, sender, role }) {
      const { isUserId, USER_IDS } = await tools.contract.ids();
      if (!isUserId(channel, sender)) {
        const detail = `${JSON.stringify(sender)} is not a user id: ${USER_IDS[channel].words}.`;
        throw new StewardError("sender_id_invalid", detail);
      }
      (await tools.pairing())(channel).grant(sender, role);
      return { channel, granted: sender, role };
    },
    text: ({ channel, granted, role }) =>
      `${channel} sender ${granted} may write to the bot.\n${grantedText(role, ["pairing", "grant", channel, granted])}`,
  }),
  revoke: operation({
    name: "pairing revoke",
    summary: "remove an approved sender's access",
    rights: EVERYWHERE,
    input: () => z.strictObject({ channel: channel(), ...senderInput }),
    changes: always,
    async run(tools, { channel, sender }) {
      const store = (await tools.pairing())(channel);
      const role = store.granted(sender);
      if (role === undefined || !store.revoke(sender)) throw new StewardError("sender_unknown");
      return { channel, revoked: sender, undo: await sealRecord({ channel, sender, role }) };
    },
    text: ({ channel, revoked }) => `Revoked ${channel} sender ${revoked}.`,
  }),
};

function pending<T>(request: T | undefined, code: string): T {
  if (request !== undefined) return request;
  throw new StewardError("pairing_code_unknown", `No pending pairing request found for code: ${code}`);
}

function approvedText({ channel, approved, operators }: People, names?: Names): string[] {
  const named = approved.map((id) => {
    const name = names?.get(`${channel}:${id}`);
    const shown = name === undefined ? id : `${name} (${id})`;
    return operators.includes(id) ? `${shown} (operator)` : shown;
  });
  return approved.length === 0 ? [] : [`Approved ${channel} senders: ${named.join(", ")}`];
}

function requestsText({ channel, requests }: People, names?: Names): string {
  if (requests.length === 0) return `No pending ${channel} pairing requests.`;
  const rows = requests.map(({ code, id, meta, createdAt }) => [
    code,
    names?.get(`${channel}:${id}`) ?? meta?.["username"] ?? meta?.["firstName"] ?? "",
    id,
    createdAt,
  ]);
  return table(["Code", "Name", "Sender", "Requested"], rows);
}
