import type { Config } from "../../../contract/config/index.ts";
import type { TOOL_NAMES } from "../../../contract/config/tools.ts";
import type { Log } from "../../../shared/log.ts";
import type { Actions } from "../../actions.ts";
import type { Channels } from "../../channels/registry.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { askChoicesTool } from "./ask-choices.ts";
import { listFilesTool, readFileTool, writeFileTool } from "./files.ts";
import { rememberTool } from "./remember.ts";
import type { SchedulesPort } from "../../schedules/port.ts";
import { scheduleTool } from "./schedule.ts";
import { sendFileTool } from "./send-file.ts";
import { sendMessageTool } from "./send-message.ts";
import type { WebOutbox } from "../../webchat/outbox.ts";
import type { Tool } from "./tool.ts";
import { webFetchTool } from "./web-fetch.ts";

export interface BuiltinOptions {
  config: Config;
  workspace: Workspace;
  channels: Pick<Channels, "get">;
  outbox: WebOutbox;
  log: Log;
  actions: Pick<Actions, "offer">;
  /** Absent if the agent cannot create schedules. */
  schedules?: SchedulesPort;
  /** Milliseconds since the epoch. */
  clock(): number;
}

export function builtinTools(options: BuiltinOptions): Tool[] {
  const { config, workspace, schedules, clock } = options;
  const tools: Tool[] = [
    readFileTool(workspace),
    writeFileTool(workspace),
    listFilesTool(workspace),
    rememberTool(workspace, clock),
    webFetchTool(config.tools.webFetch),
    sendMessageTool(options),
    sendFileTool(options),
    askChoicesTool(options),
    ...(schedules === undefined ? [] : [scheduleTool(schedules)]),
  ];
  const disabled = new Set<string>(config.tools.disabled satisfies (typeof TOOL_NAMES)[number][]);
  return tools.filter(({ definition }) => !disabled.has(definition.name));
}
