import { expect, test } from "vitest";
import { slackManifest } from "../../../infra/channels/slack-manifest.ts";

test("Slack's manifest names the address, and asks for what the bot's events need and no more", () => {
  const { settings, oauth_config, features } = JSON.parse(slackManifest("https://steward.example.com"));

  expect(settings.event_subscriptions).toEqual({
    request_url: "https://steward.example.com/slack/events",
    bot_events: ["app_mention", "message.im"],
  });
  expect(oauth_config.scopes).toEqual({
    bot: [
      "app_mentions:read",
      "assistant:write",
      "channels:read",
      "chat:write",
      "files:read",
      "files:write",
      "groups:read",
      "im:history",
      "users:read",
    ],
  });
  expect(settings.interactivity).toEqual({
    is_enabled: true,
    request_url: "https://steward.example.com/slack/events",
  });
  expect(features.app_home.messages_tab_enabled).toBe(true);
  expect(features.agent_view.agent_description).toMatch(/\w/);
});
