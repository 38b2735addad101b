import { Argument, type Command } from "commander";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import type { PairingRequest } from "../pairing/store.ts";
import { type CommandContext, commandStores, type JsonOption } from "./context.ts";

/** `steward pairing list|approve|reject|revoke`. They work on the stores, so the gateway may be down. */
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
        }));
        const waiting = channels.filter(({ requests }) => requests.length > 0);
        const pending = waiting.map((one) => `${one.channel}\n${requestsText(one.channel, one.requests)}`);
        const approved = channels.flatMap((one) => approvedText(one.channel, one.approved));
        const text = [...(pending.length === 0 ? ["No pending pairing requests."] : pending), ...approved];
        return output.answer(json, { channels }, text.join("\n\n"));
      }
      const requests = stores(channel).pending();
      const approved = stores(channel).approved();
      const text = [requestsText(channel, requests), ...approvedText(channel, approved)].join("\n\n");
      output.answer(json, { channel, requests, approved }, text);
    });

  const settle = (verb: "approve" | "reject", done: "approved" | "rejected", description: string): void => {
    pairing
      .command(verb)
      .description(description)
      .addArgument(channel())
      .argument("<code>", "the code that the sender was given, in either case")
      .option("--json", "as JSON")
      .action((channel: Platform, code: string, { json }: JsonOption) => {
        const request = stores(channel)[verb](code);
        if (request === undefined)
          throw new StewardError(
            "pairing_code_unknown",
            `No pending pairing request found for code: ${code}`,
          );
        const title = done.charAt(0).toUpperCase() + done.slice(1);
        output.answer(json, { channel, [done]: request.id }, `${title} ${channel} sender ${request.id}.`);
      });
  };
  settle("approve", "approved", "let the sender of a code write to the bot");
  settle("reject", "rejected", "drop the request of a code");

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

function approvedText(channel: Platform, approved: readonly string[]): string[] {
  return approved.length === 0 ? [] : [`Approved ${channel} senders: ${approved.join(", ")}`];
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
