import { AGENT } from "../../runtime/contract/names.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";

/** Channels send the app only messages that mention the bot. */
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
 * Returns a Slack app manifest as JSON: https://docs.slack.dev/reference/app-manifest
 *
 * @param url the service's address, without a trailing slash
 */
export function slackManifest(url: string): string {
  return JSON.stringify({
    display_information: { name: AGENT },
    features: {
      // Without this tab, people cannot send the bot direct messages.
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      // New apps support only this view of direct messages: https://docs.slack.dev/ai/developing-agents
      agent_view: { agent_description: "Answers questions, and runs the tools of its deployment." },
      bot_user: { display_name: AGENT, always_online: true },
    },
    oauth_config: { scopes: { bot: SCOPES } },
    settings: {
      event_subscriptions: { request_url: `${url}${ROUTES.slackEvents.path}`, bot_events: EVENTS },
      // Slack sends button presses to this address.
      interactivity: { is_enabled: true, request_url: `${url}${ROUTES.slackEvents.path}` },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  });
}
