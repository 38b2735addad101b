import { Argument, type Command } from "commander";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../contract/table.ts";
import type { PairingRequest } from "../pairing/store.ts";
import { type CommandContext, commandStores, type JsonOption } from "./context.ts";

/** `steward pairing list|approve|reject`. They work on the stores, so the gateway may be down. */
export function addPairingCommands(program: Command, context: CommandContext): void {
  const { output } = context;
  const stores = commandStores(context);
  const channel = (form = "<channel>"): Argument =>
    new Argument(form, "the chat platform").choices(platformSchema.options);
  const pairing = program.command("pairing").description("who asks to write to the bot");

  pairing
    .command("list")
    .description("the requests that wait for approval, of one channel or of all")
    .addArgument(channel("[channel]"))
    .option("--json", "as JSON")
    .action((channel: Platform | undefined, { json }: JsonOption) => {
      if (channel === undefined) {
        const channels = platformSchema.options.map((name) => ({
          channel: name,
          requests: stores(name).pending(),
        }));
        const waiting = channels.filter(({ requests }) => requests.length > 0);
        const text = waiting
          .map((one) => `${one.channel}\n${requestsText(one.channel, one.requests)}`)
          .join("\n\n");
        return output.answer(json, { channels }, text === "" ? "No pending pairing requests." : text);
      }
      const requests = stores(channel).pending();
      output.answer(json, { channel, requests }, requestsText(channel, requests));
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
