import * as pulumi from "@pulumi/pulumi";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import type { DiscordCommandsArgs } from "./discord-commands.ts";
import { askDiscord, callDiscord, discordRefusal, type DiscordBot } from "./discord-api.ts";
import { bodyFields } from "./platform-call.ts";

export interface EndpointInputs extends DiscordBot {
  /** Public key that verifies Discord's signatures. */
  publicKey: string;
  url: string;
}

const KEYS = ["botToken", "publicKey", "url"] as const;
const APPLICATION = "/applications/@me";

/**
 * Provider of {@link DiscordEndpoint}. Discord accepts a new address only after testing it with a valid and an invalid
 * signature.
 */
export const discordEndpointProvider: ResourceProvider<EndpointInputs, EndpointInputs> = {
  async diff(id, olds, news) {
    const replaces = id === news.applicationId ? [] : ["applicationId"];
    const changes = replaces.length > 0 || KEYS.some((key) => olds[key] !== news[key]);
    return { changes, replaces };
  },

  async create(inputs) {
    await setEndpoint(inputs);
    return { id: inputs.applicationId, outs: inputs };
  },

  async read(id, props) {
    const application = bodyFields(await callDiscord(props, "GET", APPLICATION));
    const url = addressOf(application);
    // Report a changed key as drift. The next update cannot restore the key, so it fails and names the setting to
    // correct.
    const { verify_key: publicKey = props.publicKey } = application;
    const inputs = { ...props, url, publicKey: String(publicKey) };
    return url === "" ? { id: "" } : { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await setEndpoint(news);
    return { outs: news };
  },

  /**
   * Removes the interactions endpoint unless somebody has changed it. Succeeds even if Discord rejects the token, so
   * the stack can be destroyed.
   */
  async delete(_id, props) {
    const answer = await askDiscord(props, "GET", APPLICATION);
    if (answer.refused || addressOf(answer.result) !== props.url) return;
    await callDiscord(props, "PATCH", APPLICATION, { interactions_endpoint_url: null });
  },
};

/** https://docs.discord.com/developers/resources/application#edit-current-application */
async function setEndpoint(inputs: EndpointInputs): Promise<void> {
  const { id, verify_key: publicKey } = bodyFields(await callDiscord(inputs, "GET", APPLICATION));
  if (id !== inputs.applicationId) {
    throw discordRefusal(
      "steward:discordBotToken belongs to another application than steward:discordApplicationId",
    );
  }
  if (publicKey !== inputs.publicKey) {
    throw discordRefusal("steward:discordPublicKey is not the key of steward:discordApplicationId");
  }
  await callDiscord(inputs, "PATCH", APPLICATION, { interactions_endpoint_url: inputs.url });
}

function addressOf(application: unknown): string {
  const { interactions_endpoint_url: url } = bodyFields(application);
  return typeof url === "string" ? url : "";
}

export interface DiscordEndpointArgs extends DiscordCommandsArgs {
  /** The application's key, 64 hexadecimal digits. */
  publicKey: pulumi.Input<string>;
  /** A public https address. */
  url: pulumi.Input<string>;
}

/**
 * Address for Discord's interactions. This resource must depend on the readiness check, because Discord tests a new
 * address immediately.
 */
export class DiscordEndpoint extends OwnResource {
  constructor(name: string, args: DiscordEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken"] };
    super("channels:DiscordEndpoint", name, args, secret);
  }
}
