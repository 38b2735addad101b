import type { Admission } from "../../../runtime/contract/message.ts";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { checkConfig, type Config } from "../../../runtime/contract/config/index.ts";
import type { Log } from "../../../runtime/shared/log.ts";
import { Agent, type Question } from "../../../runtime/gateway/agent/agent.ts";
import { SourceUsageStore } from "../../../runtime/gateway/models/usage.ts";
import { Limits, SpendingStore } from "../../../runtime/gateway/agent/limits.ts";
import type { Channel } from "../../../runtime/gateway/channels/channel.ts";
import { McpServers } from "../../../runtime/gateway/agent/mcp/servers.ts";
import { Toolbox } from "../../../runtime/gateway/agent/toolbox.ts";
import type { SchedulesPort } from "../../../runtime/gateway/schedules/port.ts";
import type { Model, ModelAnswer, ModelRequest, ToolCall } from "../../../runtime/gateway/models/model.ts";
import { MediaProcess } from "../../../runtime/gateway/media/media-process.ts";
import { Media } from "../../../runtime/gateway/media/media.ts";
import { Actions } from "../../../runtime/gateway/actions.ts";
import type { Transcriber } from "../../../runtime/gateway/models/transcription.ts";
import { Sessions } from "../../../runtime/gateway/sessions/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { WebOutbox } from "../../../runtime/gateway/webchat/outbox.ts";
import type { ToPage } from "../../../runtime/contract/chat.ts";
import { Workspace } from "../../../runtime/gateway/workspace/workspace.ts";
import { temporaryDirectory } from "./processes.ts";

/** What a scripted model does with one question. */
export type ScriptedAnswer = (request: ModelRequest) => Promise<ModelAnswer> | ModelAnswer;

/** An answer in words. */
export function says(text: string, input = 0): ScriptedAnswer {
  return ({ onText }) => {
    onText?.(text);
    return { text, toolCalls: [], model: "anthropic/m", tokens: { input, output: 5 } };
  };
}

/** An answer that asks for tools. */
export function calls(...toolCalls: ToolCall[]): ScriptedAnswer {
  return () => ({ text: "", toolCalls, model: "anthropic/m", tokens: { input: 10, output: 5 } });
}

/** A config with changes, after defaults. */
export function configOf(value: object = {}): Config {
  const result = checkConfig(value);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

/** How a person whom the config lists comes in. */
export const PERSON: Admission = { by: "config", grants: "person" };

/** A question of one person; several texts make a burst. */
export function question(id: string, text = "hello", others: Partial<Question> = {}): Question {
  return {
    session: "slack:C1",
    platform: "slack",
    target: { chat: "C1" },
    direct: true,
    messages: [{ delivery: id, sender: { id: "U1", name: "Ada" }, admission: PERSON, text, images: [] }],
    ...others,
  };
}

/** An agent in this process, over a real store, with a model that does what it is told. */
export async function agentBench(
  settings: object = {},
  environment: Record<string, string> = {},
  transcriber?: Transcriber,
) {
  const home = await temporaryDirectory();
  const config = configOf(settings);
  const answers: ScriptedAnswer[] = [];
  const asked: ModelRequest[] = [];
  const logged: { message: string; fields: object }[] = [];
  const sent: { chat: string; text: string }[] = [];
  const files: { chat: string; name: string; mediaType: string; text: string; caption?: string }[] = [];
  const time = { now: Date.parse("2026-11-21T12:00:00Z") };
  const reported: string[] = [];
  const pages: ToPage[] = [];
  const clock = () => time.now;
  const keep = (message: string, fields: object = {}) => void logged.push({ message, fields });
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const model: Model = {
    answer: async (request) => {
      asked.push({ ...request, messages: structuredClone(request.messages) });
      return (answers.shift() ?? says("done"))(request);
    },
  };
  const channel = {
    split: (text: string) => [text],
    send: async ({ chat }: { chat: string }, text: string) => {
      sent.push({ chat, text });
      return {};
    },
    files: {
      maxBytes: 1_000,
      send: async ({ chat }, { name, mediaType, data }, caption) => {
        const text = new TextDecoder().decode(data);
        files.push({ chat, name, mediaType, text, ...(caption !== undefined && { caption }) });
      },
    } satisfies Channel["files"],
  };
  const start = (schedules?: SchedulesPort) => {
    const database = openStore(join(home, "state.db"));
    const sessions = new Sessions(database);
    const workspace = new Workspace({ home, limits: config.agent.limits, clock });
    const redact = (text: string) => text;
    const mcp = new McpServers({
      servers: config.tools.mcp,
      environment,
      redact,
      report: (area, what) => void reported.push(`${area} ${what}`),
      clock,
      log,
    });
    const actions = new Actions(database, clock);
    const outbox = new WebOutbox({ database, actions, clock });
    outbox.listen("C1", (message) => void pages.push(message));
    const channels = { get: () => channel } as unknown as { get(): undefined };
    const toolbox = new Toolbox({
      config,
      workspace,
      channels,
      actions,
      outbox,
      ...(schedules && { schedules }),
      mcp,
      media: new Media({
        apart: new MediaProcess(),
        memoryBytes: 1_000_000_000,
        takesPdf: true,
        ...(transcriber && { transcriber }),
      }),
      redact,
      clock,
      log,
    });
    const limits = new Limits({
      limits: config.agent.limits,
      spending: new SpendingStore(database),
      sources: new SourceUsageStore(database),
      clock,
    });
    const agent = new Agent({ config, model, sessions, workspace, toolbox, limits, clock, log });
    const close = async () => {
      await agent.close();
      if (database.isOpen) database.close();
    };
    onTestFinished(close);
    const answer = (asking: Question, onText?: (soFar: string) => void) =>
      agent.answer(asking, { signal: new AbortController().signal, ...(onText && { onText }) });
    return { agent, sessions, mcp, answer, close };
  };
  return {
    home,
    asked,
    logged,
    reported,
    sent,
    files,
    pages,
    time,
    next: (...more: ScriptedAnswer[]) => void answers.push(...more),
    start,
  };
}
