import path from "node:path";
import { ROUTES } from "../runtime/contract/routes.ts";
import type { Target } from "../infra/gateway/args.ts";
import type { RehearsedDeployment } from "./deploy.ts";
import type { Exchange } from "./message.ts";
import { startCommand } from "./options.ts";
import { STACK } from "./stack.ts";
import { OPERATOR } from "./stack-config.ts";
import type { World } from "./world.ts";

/** Describes a deployment. With `verbose`, lists every resource type. */
export function deploymentReport(world: World, deployment: RehearsedDeployment, verbose: boolean): string {
  const { engine, sandbox } = world;
  const changes = Object.entries(deployment.changes).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${deploymentTimes(deployment)}: ${changes.join(", ")}`,
    ...(verbose ? Object.entries(deployment.resources).map(([type, count]) => `  ${count} × ${type}`) : []),
    `Engine:     Pulumi ${engine.version} (${engine.source}), ${providersOf(world)}`,
    `Container:  ${sandbox}`,
    "",
  ].join("\n");
}

function deploymentTimes({ previewMs, upMs }: RehearsedDeployment): string {
  if (upMs === undefined) return `No changes, after a preview of ${previewMs} ms`;
  return `Deployed in ${upMs} ms after a preview of ${previewMs} ms`;
}

export function addresses({ platforms, limits, settings }: World, { url }: RehearsedDeployment): string {
  const signIn = limits.length > 0 ? `sign in as ${OPERATOR}` : `token: ${settings.secrets.adminToken}`;
  const lines = [
    ["Console:", `${url}/_admin/`, signIn],
    ["Chat:", `${url}${ROUTES.chat.path}`, "a browser asks for access; approve it in the console"],
    ["Slack:", `${platforms.slack.url}/`, "a stand-in; its page links those of Telegram and Discord"],
    ["Logs:", `${url}${ROUTES.logsPage.path}`, "the service's logs, in the console"],
  ] as const;
  const widest = Math.max(...lines.map(([, address]) => address.length));
  return lines
    .map(([name, address, what]) => `${name.padEnd(12)}${address.padEnd(widest)}   ${what}\n`)
    .join("");
}

interface SuggestionsOptions {
  target: Target;
  /** Shell file to source before running `pulumi` by hand. */
  environment: string;
  log: string;
  verbose: boolean;
}

export function suggestions(
  { dir, limits }: World,
  { target, environment, log, verbose }: SuggestionsOptions,
): string {
  const place = { dir: path.dirname(dir), target };
  const model =
    limits.length === 0 ? "" : " The cloud is an emulation; --verbose lists what it does not model.";
  return [
    "Try this:",
    "  1. Open Slack's address, write to the bot, and watch the reply grow.",
    "  2. Open the console: the message is under Events, the container's start on the overview.",
    `  3. In another terminal: \`. ${sourced(environment)}\`, then \`pulumi preview -s ${STACK}\`.`,
    `  4. \`${startCommand({ dir: place.dir }, "tour")}\`: a pairing, a crash, a broken config, a failed rollout, a restore.`,
    "",
    ...(verbose ? limits.map((line, index) => `${index === 0 ? "Not modelled:\n" : ""}  - ${line}`) : []),
    `Pulumi's log: ${log}.${verbose ? "" : model}`,
    `Ctrl-C ends the rehearsal and keeps the stack and its backups; \`${startCommand(place, "--destroy")}\` removes it.`,
    "",
  ].join("\n");
}

export function exchangeReport({ text, status, reply, replyMs, coldStartMs }: Exchange): string {
  return [
    `Sent:       ${text}`,
    `Answered:   ${status}${status === 503 ? " (the container was asleep; the event is queued)" : ""}`,
    `Reply:      ${reply}`,
    `Times:      reply after ${replyMs} ms, the container's cold start ${coldStartMs} ms`,
    "",
  ].join("\n");
}

/** Prefixes a bare file name with `./`. The shell's `.` command would search PATH for a bare name. */
function sourced(file: string): string {
  return file.includes("/") ? file : `./${file}`;
}

export function reportOf(
  world: World,
  deployment: RehearsedDeployment,
  exchange: Exchange | undefined,
): object {
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
