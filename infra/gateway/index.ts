/** The package's public components: `import * as steward from "steward-gateway/gateway"`. */
export type {
  CloudflareArgs,
  DiscordArgs,
  EndpointsArgs,
  GatewayArgs,
  HostAccessArgs,
  HostGatewayArgs,
  ModelsArgs,
  ServerlessAccessArgs,
  ServerlessGatewayArgs,
  SlackAppArgs,
  SlackArgs,
  TelegramArgs,
} from "./args.ts";
export { HostGateway } from "./host-gateway.ts";
export { ServerlessGateway } from "./serverless-gateway.ts";
