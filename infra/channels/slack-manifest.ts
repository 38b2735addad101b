import { AGENT } from "../../runtime/contract/names.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";

/**
 * Scopes and events of the bot: mentions, direct messages and their view, their files, answers, and the names of people
 * and channels for the console.
 */
const EVENTS = ["app_mention", "message.im"];
const SCOPES = [
  "app_mentions:read",
  "assistant:write",
  "channels:read",
  "chat:write",
  "files:read",
  "files:write",
  "groups:read",
  "im:history",
  "users:read",
];

/**
 * The Slack app of a deployment (https://docs.slack.dev/reference/app-manifest), as JSON that Slack's page
 * "Create an app from a manifest" takes, and the App Manifest page of an app that is there.
 *
 * @param url the service's address, without a slash at the end.
 */
export function slackManifest(url: string): string {
  return JSON.stringify({
    display_information: { name: AGENT },
    features: {
      // Without the tab no one can write to the bot directly.
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      // New apps have this view of direct messages alone: https://docs.slack.dev/ai/developing-agents
      agent_view: { agent_description: "Answers questions, and runs the tools of its deployment." },
      bot_user: { display_name: AGENT, always_online: true },
    },
    oauth_config: { scopes: { bot: SCOPES } },
    settings: {
      event_subscriptions: { request_url: `${url}${ROUTES.slackEvents.path}`, bot_events: EVENTS },
      // Presses of buttons come to the same address.
      interactivity: { is_enabled: true, request_url: `${url}${ROUTES.slackEvents.path}` },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  });
}
