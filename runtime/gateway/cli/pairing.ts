import { Argument, type Command, Option } from "commander";
import { isUserId, USER_IDS } from "../../contract/config/ids.ts";
import { GRANTED_ROLES, type GrantedRole } from "../../contract/config/rights.ts";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import type { PairingRequest } from "../pairing/store.ts";
import { type CommandContext, commandStores, grantedText, type JsonOption } from "./context.ts";

/** `steward pairing list|approve|reject|grant|revoke`. They work on the stores, so the gateway may be down. */
export function addPairingCommands(program: Command, context: CommandContext): void {
  const { output } = context;
  const stores = commandStores(context);
  const channel = (form = "<channel>"): Argument =>
    new Argument(form, "the chat platform").choices(platformSchema.options);
  const pairing = program.command("pairing").description("people who may write to the bot, and who ask to");

  pairing
    .command("list")
    .description("pending requests and approved senders, of one channel or all")
    .addArgument(channel("[channel]"))
    .option("--json", "as JSON")
    .action((channel: Platform | undefined, { json }: JsonOption) => {
      if (channel === undefined) {
        const channels = platformSchema.options.map((name) => ({
          channel: name,
          requests: stores(name).pending(),
          approved: stores(name).approved(),
          operators: stores(name).operators(),
        }));
        const waiting = channels.filter(({ requests }) => requests.length > 0);
        const pending = waiting.map((one) => `${one.channel}\n${requestsText(one.channel, one.requests)}`);
        const approved = channels.flatMap((one) => approvedText(one.channel, one.approved, one.operators));
        const text = [...(pending.length === 0 ? ["No pending pairing requests."] : pending), ...approved];
        return output.answer(json, { channels }, text.join("\n\n"));
      }
      const requests = stores(channel).pending();
      const approved = stores(channel).approved();
      const operators = stores(channel).operators();
      const text = [requestsText(channel, requests), ...approvedText(channel, approved, operators)].join(
        "\n\n",
      );
      output.answer(json, { channel, requests, approved, operators }, text);
    });

  const found = (request: PairingRequest | undefined, code: string): PairingRequest => {
    if (request !== undefined) return request;
    throw new StewardError("pairing_code_unknown", `No pending pairing request found for code: ${code}`);
  };
  pairing
    .command("approve")
    .description("let the sender of a code write to the bot, with a person's rights")
    .addArgument(channel())
    .argument("<code>", "the code that the sender was given, in either case")
    .addOption(new Option("--operator", "with an operator's rights"))
    .option("--json", "as JSON")
    .action((channel: Platform, code: string, { json, operator }: JsonOption & { operator?: boolean }) => {
      const role = operator ? "operator" : "person";
      const { id } = found(stores(channel).approve(code, role), code);
      const text = `Approved ${channel} sender ${id}.\n${grantedText(role, ["pairing", "grant", channel, id])}`;
      output.answer(json, { channel, approved: id, role }, text);
    });

  pairing
    .command("reject")
    .description("drop the request of a code")
    .addArgument(channel())
    .argument("<code>", "the code that the sender was given, in either case")
    .option("--json", "as JSON")
    .action((channel: Platform, code: string, { json }: JsonOption) => {
      const { id } = found(stores(channel).reject(code), code);
      output.answer(json, { channel, rejected: id }, `Rejected ${channel} sender ${id}.`);
    });

  pairing
    .command("grant")
    .description("give a sender a role; one that is not approved yet is let in, also without a code")
    .addArgument(channel())
    .argument("<sender>", "the sender's id on the platform")
    .addArgument(new Argument("<role>", "its rights").choices(GRANTED_ROLES))
    .option("--json", "as JSON")
    .action((channel: Platform, sender: string, role: GrantedRole, { json }: JsonOption) => {
      if (!isUserId(channel, sender))
        throw new StewardError(
          "sender_id_invalid",
          `${JSON.stringify(sender)} is no user id: ${USER_IDS[channel].words}.`,
        );
      stores(channel).grant(sender, role);
      const text = `${channel} sender ${sender} may write to the bot.\n${grantedText(role, ["pairing", "grant", channel, sender])}`;
      output.answer(json, { channel, granted: sender, role }, text);
    });

  pairing
    .command("revoke")
    .description("take an approved sender's access away")
    .addArgument(channel())
    .argument("<sender>", "the sender's id on the platform")
    .option("--json", "as JSON")
    .action((channel: Platform, sender: string, { json }: JsonOption) => {
      if (!stores(channel).revoke(sender)) throw new StewardError("sender_unknown");
      output.answer(json, { channel, revoked: sender }, `Revoked ${channel} sender ${sender}.`);
    });
}

function approvedText(
  channel: Platform,
  approved: readonly string[],
  operators: readonly string[],
): string[] {
  const named = approved.map((id) => (operators.includes(id) ? `${id} (operator)` : id));
  return approved.length === 0 ? [] : [`Approved ${channel} senders: ${named.join(", ")}`];
}

function requestsText(channel: Platform, requests: readonly PairingRequest[]): string {
  if (requests.length === 0) return `No pending ${channel} pairing requests.`;
  const rows = requests.map(({ code, id, meta, createdAt }) => [
    code,
    id,
    meta?.["username"] ?? meta?.["firstName"] ?? "",
    createdAt,
  ]);
  return table(["Code", "Sender", "Name", "Requested"], rows);
}
