// The stack's program. What it deploys is told by the configuration: every `steward:` key of Pulumi.<stack>.yaml.
export { program as default } from "steward-gateway";
