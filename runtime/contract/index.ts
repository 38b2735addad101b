/**
 * Entry point `steward-gateway/contract`: names, types and texts for other programs. Omits the messages of internal
 * APIs, which may change with every version.
 */
export {
  AGENT,
  BACKUPS_DIRECTORY,
  CONFIG_FILE,
  DATA_DIRECTORY,
  HOST_NAMES,
  PORTS,
  STATE_FILE,
  STATE_SCHEMA,
  VERSION,
} from "./names.ts";
export { ERRORS, type ErrorCode, fixOf, isErrorCode, type Reason, StewardError } from "./errors.ts";
export { PROBLEM_TYPE, type Problem } from "./problem.ts";
export { type Route, type RouteAccess, ROUTES } from "./routes.ts";
export { checkConfig, type Config, type ConfigProblem, type ConfigResult } from "./config/index.ts";
export { configJsonSchema } from "./config/json-schema.ts";
export type {
  Admission,
  Attachment,
  ButtonPress,
  Inbound,
  InboundMessage,
  Reference,
  ReplyTarget,
  Sender,
} from "./message.ts";
export type { Delivery, Platform } from "./delivery.ts";
export { CHAT_CLOSE, CHAT_MESSAGE_BYTES, type FromPage, proofText, type ToPage } from "./chat.ts";
export { VARIABLES, type VariableName } from "./variables.ts";
