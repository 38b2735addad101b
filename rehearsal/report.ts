import type { Target } from "../stacks/config/schema.ts";
import type { Deployment } from "./deploy.ts";
import type { Exchange } from "./message.ts";
import { STACK } from "./stack.ts";
import type { World } from "./world.ts";

/** What was deployed, for people. */
export function deploymentReport(world: World, deployment: Deployment): string {
  const { engine, sandbox } = world;
  const changes = Object.entries(deployment.changes).map(([kind, count]) => `${count} ${kind}`);
  return [
    "",
    `${deploymentTimes(deployment)}: ${changes.join(", ")}`,
    ...Object.entries(deployment.resources).map(([type, count]) => `  ${count} × ${type}`),
    `Engine:     Pulumi ${engine.version} (${engine.source}), ${providersOf(world)}`,
    `Container:  ${sandbox}`,
    "",
  ].join("\n");
}

function deploymentTimes({ previewMs, upMs }: Deployment): string {
  if (upMs === undefined) return `Nothing to change, after a preview of ${previewMs} ms`;
  return `Deployed in ${upMs} ms after a preview of ${previewMs} ms`;
}

/**
 * Where to look and how to stop, for people.
 *
 * @param environment the file with which `pulumi` is typed by hand
 */
export function addresses(
  world: World,
  deployment: Deployment,
  { target, environment }: { target: Target; environment: string },
): string {
  const { slack, telegram, discord, model } = world.platforms;
  const emulated = world.limits.length > 0;
  return [
    ...(emulated
      ? ["The cloud is an emulation. It does not model:", ...world.limits.map((line) => `  - ${line}`), ""]
      : []),
    `Service:    ${deployment.url}/   (the ${target} stack)`,
    `Admin:      ${deployment.url}/_admin/   ${signInHint(world)}`,
    `Slack:      ${slack.url}/   (a stand-in: write to the bot there)`,
    `Telegram:   ${telegram.url}/   (a stand-in: write to the bot there)`,
    `Discord:    ${discord.url}/   (a stand-in)`,
    `Model:      ${model === undefined ? "the real one, with ANTHROPIC_API_KEY" : `${model.url}/   (a stand-in)`}`,
    `By hand:    in another terminal, \`. ${sourced(environment)}\`, then \`pulumi preview -s ${STACK}\` and the like`,
    "",
    "Ctrl-C ends the rehearsal and keeps its state; `npm start -- --destroy` removes it.",
    "",
  ].join("\n");
}

/** One message's way, for people. */
export function exchangeReport({ text, status, reply, replyMs, coldStartMs }: Exchange): string {
  return [
    `Sent:       ${text}`,
    `Answered:   ${status}${status === 503 ? " (the container was asleep; the event is kept)" : ""}`,
    `Reply:      ${reply}`,
    `Times:      reply after ${replyMs} ms, the container's cold start ${coldStartMs} ms`,
    "",
  ].join("\n");
}

/** A shell looks for a name without a slash on PATH. */
function sourced(file: string): string {
  return file.includes("/") ? file : `./${file}`;
}

/** The object that `--json` ends with. */
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
