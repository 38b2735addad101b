import { totalmem } from "node:os";
import type { Config } from "../contract/config/index.ts";
import type { Environment } from "../contract/environment.ts";
import type { Log } from "../shared/log.ts";
import type { Redactor } from "../shared/redact.ts";
import { Agent } from "./agent/agent.ts";
import { Limits } from "./agent/limits.ts";
import { McpServers } from "./agent/mcp/servers.ts";
import { Toolbox } from "./agent/toolbox.ts";
import { createChannels, type Channels } from "./channels/registry.ts";
import { intakeReader } from "./channels/intake.ts";
import { MediaProcess } from "./media/media-process.ts";
import { Media } from "./media/media.ts";
import { createModels } from "./models/create.ts";
import type { ModelRelay } from "./models/relay.ts";
import { createTranscriber } from "./models/transcription.ts";
import { schedulesPort } from "./schedules/port.ts";
import type { Stores } from "./stores.ts";
import { Workspace } from "./workspace/workspace.ts";
import type { ModelTimeout } from "./models/streamed.ts";

/** Objects that are replaced when the config changes. Work in progress continues with the previous ones. */
export interface Components {
  config: Config;
  channels: Channels;
  models: ModelRelay;
  agent: Agent;
  mcp: Pick<McpServers, "health">;
  media: Media;
  /** Closes connections once nothing uses them. */
  close(): Promise<void>;
}

export interface ComponentsOptions {
  environment: Environment;
  /** The data directory. */
  home: string;
  stores: Stores;
  redact: Redactor;
  /** For tests. */
  modelTimeout?: ModelTimeout;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Sends no requests. */
export function createComponents(config: Config, options: ComponentsOptions): Components {
  const { environment, home, stores, redact, modelTimeout, clock, log } = options;
  const { sessions, usage, spending, sources, pairing } = stores;
  const report = stores.contract.note;
  const { database, moves: telegramMoves } = stores;
  const intakes = {
    telegram: intakeReader(database, "telegram"),
    discord: intakeReader(database, "discord"),
  };
  const channels = createChannels({ config, environment, pairing, intakes, telegramMoves, clock, log });
  const timeout = modelTimeout && { timeout: modelTimeout };
  const models = createModels(config, { environment, usage, redact, report, clock, log, ...timeout });
  const workspace = new Workspace({
    home,
    limits: config.agent.limits,
    clock,
    onChange: (change) => log.info("a file of the workspace changed", { ...change }),
  });
  const mcp = new McpServers({ servers: config.tools.mcp, environment, redact, report, clock, log });
  const memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  const takesPdf = [config.models.primary, ...config.models.fallbacks].every((id) =>
    id.startsWith("anthropic/"),
  );
  const transcriber = createTranscriber(config.models, { environment, redact, fetch, clock, log });
  const media = new Media({ apart: new MediaProcess(), memoryBytes, takesPdf, transcriber });
  const toolbox = new Toolbox({
    config,
    workspace,
    channels,
    actions: stores.actions,
    outbox: stores.outbox,
    schedules: schedulesPort(stores.schedules, clock),
    mcp,
    media,
    redact,
    clock,
    log,
  });
  const limits = new Limits({ limits: config.agent.limits, spending, sources, clock });
  const agent = new Agent({ config, model: models, sessions, workspace, toolbox, limits, clock, log });
  return { config, channels, models, agent, mcp, media, close: () => agent.close() };
}
