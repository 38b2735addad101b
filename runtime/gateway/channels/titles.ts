import type { Platform } from "../../contract/delivery.ts";

/** How people call the platforms. */
export const PLATFORM_TITLES: Record<Platform, string> = {
  slack: "Slack",
  telegram: "Telegram",
  discord: "Discord",
};
