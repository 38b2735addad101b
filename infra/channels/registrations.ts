import * as pulumi from "@pulumi/pulumi";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { DiscordCommands } from "./discord-commands.ts";
import { DiscordEndpoint, type DiscordEndpointArgs } from "./discord-endpoint.ts";
import type { ConnectionArgs } from "../shell/resource.ts";
import { SlackApp, type SlackAppArgs } from "./slack-app.ts";
import { slackManifest } from "./slack-manifest.ts";
import { TelegramWebhook, type TelegramWebhookArgs } from "./telegram-webhook.ts";

export interface RegistrationsArgs {
  /** The service's public address, without a trailing slash. */
  url: pulumi.Input<string>;
  /** Default: nothing is registered with Telegram. */
  telegram?: Omit<TelegramWebhookArgs, "url"> | undefined;
  /** Arguments for updating the Slack app's manifest. If absent, the operator pastes the manifest into Slack. */
  slack?: Omit<SlackAppArgs, "manifest"> | undefined;
  /** Default: nothing is registered with Discord. */
  discord?: Omit<DiscordEndpointArgs, "url"> | undefined;
  connection?: ConnectionArgs | undefined;
}

/**
 * Slack's manifest, Telegram's webhook, and Discord's commands and endpoint. Must depend on the readiness check,
 * because a platform sends events as soon as it is registered.
 */
export class Registrations extends pulumi.ComponentResource {
  /** One line per registration. */
  readonly report: pulumi.Output<string>;

  constructor(name: string, args: RegistrationsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:channels:Registrations", name, {}, opts);
    const { url, slack, telegram, discord, connection } = args;

    const created = [
      ...(slack === undefined ? [] : createSlack(name, url, { ...slack, connection }, { parent: this })),
      ...(telegram === undefined
        ? []
        : createTelegram(name, url, { ...telegram, connection }, { parent: this })),
      ...(discord === undefined
        ? []
        : createDiscord(name, url, { ...discord, connection }, { parent: this })),
    ];

    this.report = pulumi.all(created.map(({ what, resource }) => resource.id.apply(() => what))).apply(join);
    this.registerOutputs({ report: this.report });
  }
}

interface Registration {
  what: pulumi.Input<string>;
  resource: pulumi.CustomResource;
}

function join(lines: string[]): string {
  return lines.join("\n");
}

function createSlack(
  name: string,
  url: pulumi.Input<string>,
  slack: NonNullable<RegistrationsArgs["slack"]>,
  opts: pulumi.CustomResourceOptions,
): Registration[] {
  const app = { ...slack, manifest: pulumi.output(url).apply(slackManifest) };
  const resource = new SlackApp(`${name}-slack-app`, app, opts);
  return [
    {
      what: pulumi.interpolate`Slack's app ${slack.appId} sends to ${url}${ROUTES.slackEvents.path}`,
      resource,
    },
  ];
}

function createTelegram(
  name: string,
  url: pulumi.Input<string>,
  telegram: NonNullable<RegistrationsArgs["telegram"]>,
  opts: pulumi.CustomResourceOptions,
): Registration[] {
  const webhook = { ...telegram, url: pulumi.interpolate`${url}${ROUTES.telegramWebhook.path}` };
  const resource = new TelegramWebhook(`${name}-telegram-webhook`, webhook, opts);
  return [{ what: pulumi.interpolate`Telegram's webhook is ${webhook.url}`, resource }];
}

function createDiscord(
  name: string,
  url: pulumi.Input<string>,
  discord: NonNullable<RegistrationsArgs["discord"]>,
  opts: pulumi.CustomResourceOptions,
): Registration[] {
  const { botToken, applicationId, connection } = discord;
  const endpoint = { ...discord, url: pulumi.interpolate`${url}${ROUTES.discordInteractions.path}` };
  return [
    {
      what: "Discord offers the commands",
      resource: new DiscordCommands(
        `${name}-discord-commands`,
        { botToken, applicationId, connection },
        opts,
      ),
    },
    {
      what: pulumi.interpolate`Discord's interactions endpoint is ${endpoint.url}`,
      resource: new DiscordEndpoint(`${name}-discord-endpoint`, endpoint, opts),
    },
  ];
}
