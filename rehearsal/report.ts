import path from "node:path";
import type { Target } from "../infra/gateway/args.ts";
import type { Deployment } from "./deploy.ts";
import type { Exchange } from "./message.ts";
import { startCommand } from "./options.ts";
import { STACK } from "./stack.ts";
import type { World } from "./world.ts";

/** Returns a summary of the deployment for people; `verbose` lists every resource type. */
export function deploymentReport(world: World, deployment: Deployment, verbose: boolean): string {
  const { engine, sandbox } = world;
  const changes = Object.entries(deployment.changes).map(([kind, count]) => `${count} ${kind}`);
  return [
    "",
    `${deploymentTimes(deployment)}: ${changes.join(", ")}`,
    ...(verbose ? Object.entries(deployment.resources).map(([type, count]) => `  ${count} × ${type}`) : []),
    `Engine:     Pulumi ${engine.version} (${engine.source}), ${providersOf(world)}`,
    `Container:  ${sandbox}`,
    "",
  ].join("\n");
}

function deploymentTimes({ previewMs, upMs }: Deployment): string {
  if (upMs === undefined) return `Nothing to change, after a preview of ${previewMs} ms`;
  return `Deployed in ${upMs} ms after a preview of ${previewMs} ms`;
}

/** Options of {@link addresses}. */
interface AddressesOptions {
  target: Target;
  /** The file to source in a shell before typing `pulumi` by hand. */
  environment: string;
  /** Also lists what the emulation does not model. */
  verbose: boolean;
}

/** Returns text for people: the addresses, what to try, and how to stop the rehearsal. */
export function addresses(
  world: World,
  deployment: Deployment,
  { target, environment, verbose }: AddressesOptions,
): string {
  const { slack, telegram, discord, model } = world.platforms;
  const emulated = world.limits.length > 0;
  return [
    ...(emulated && verbose
      ? ["The cloud is an emulation. It does not model:", ...world.limits.map((line) => `  - ${line}`), ""]
      : []),
    `Service:    ${deployment.url}/   (the ${target} stack)`,
    `Admin:      ${deployment.url}/_admin/   ${signInHint(world)}`,
    `Slack:      ${slack.url}/   (a stand-in)`,
    `Telegram:   ${telegram.url}/   (a stand-in)`,
    ...(verbose
      ? [
          `Discord:    ${discord.url}/   (a stand-in)`,
          `Model:      ${model === undefined ? "the real one, with ANTHROPIC_API_KEY" : `${model.url}/   (a stand-in)`}`,
        ]
      : []),
    "",
    "Try this:",
    "  1. Open Slack's address, write to the bot, and watch the reply grow.",
    "  2. Open Admin: the message is under Events, the container's start on the overview.",
    `  3. In another terminal: \`. ${sourced(environment)}\`, then \`pulumi preview -s ${STACK}\`.`,
    "",
    ...(emulated && !verbose ? ["The cloud is an emulation; --verbose lists what it does not model."] : []),
    `Ctrl-C ends the rehearsal and keeps its state; \`${startCommand({ dir: path.dirname(world.dir), target }, "--destroy")}\` removes it.`,
    "",
  ].join("\n");
}

/** Returns a summary of one message and its reply, for people. */
export function exchangeReport({ text, status, reply, replyMs, coldStartMs }: Exchange): string {
  return [
    `Sent:       ${text}`,
    `Answered:   ${status}${status === 503 ? " (the container was asleep; the event is queued)" : ""}`,
    `Reply:      ${reply}`,
    `Times:      reply after ${replyMs} ms, the container's cold start ${coldStartMs} ms`,
    "",
  ].join("\n");
}

/** Returns a file's path as a shell can source it: a shell looks for a name without a slash on PATH. */
function sourced(file: string): string {
  return file.includes("/") ? file : `./${file}`;
}

/** Returns the object that `--json` prints at the end. */
export function reportOf(world: World, deployment: Deployment, exchange: Exchange | undefined): object {
  const { url, resources, changes, previewMs, upMs } = deployment;
  return {
    ok: true,
    url,
    reply: exchange?.reply ?? null,
    resources,
    changes,
    timings: {
      engineMs: world.engine.ms,
      previewMs,
      upMs: upMs ?? null,
      coldStartMs: exchange?.coldStartMs ?? null,
      replyMs: exchange?.replyMs ?? null,
    },
  };
}

function providersOf({ engine }: World): string {
  const own = Object.entries(engine.official).flatMap(([name, official]) => (official ? [] : [name]));
  return own.length === 0
    ? "official providers"
    : `the rehearsal's own providers for what is not installed (${own.join(", ")})`;
}

function signInHint(world: World): string {
  const { adminToken } = world.settings.secrets;
  return world.limits.length > 0
    ? "(the local identity gateway asks for an e-mail: operator@example.com)"
    : `(Authorization: Bearer ${adminToken})`;
}
