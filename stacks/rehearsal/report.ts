import type { Deployment } from "./deploy.ts";
import type { Exchange } from "./message.ts";
import type { World } from "./world.ts";

/** What was deployed, for people. */
export function deploymentReport(world: World, deployment: Deployment): string {
  const { engine, sandbox } = world;
  const changes = Object.entries(deployment.changes).map(([kind, count]) => `${count} ${kind}`);
  return [
    "",
    `Deployed in ${deployment.upMs} ms after a preview of ${deployment.previewMs} ms: ${changes.join(", ")}`,
    ...Object.entries(deployment.resources).map(([type, count]) => `  ${count} × ${type}`),
    `Engine:     Pulumi ${engine.version} (${engine.source}), ${attachedProviders(world)}`,
    `Container:  ${sandbox}`,
    "",
  ].join("\n");
}

/** Where to look and how to stop, for people. */
export function addresses(world: World, deployment: Deployment): string {
  const { slack, telegram, discord, model } = world.platforms;
  const emulated = world.limits.length > 0;
  return [
    ...(emulated
      ? ["The cloud is an emulation. It does not model:", ...world.limits.map((line) => `  - ${line}`), ""]
      : []),
    `Service:    ${deployment.url}/`,
    `Admin:      ${deployment.url}/_admin/   ${signInHint(world)}`,
    `Slack:      ${slack.url}/   (a stand-in: write to the bot there)`,
    `Telegram:   ${telegram.url}/   (a stand-in: write to the bot there)`,
    `Discord:    ${discord.url}/   (a stand-in)`,
    `Model:      ${model === undefined ? "the real one, with ANTHROPIC_API_KEY" : `${model.url}/   (a stand-in)`}`,
    "",
    "Ctrl-C ends the rehearsal and keeps its state; npm start -- --destroy removes it.",
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

/** The line that `--json` ends with. */
export function jsonReport(world: World, deployment: Deployment, exchange: Exchange | undefined): string {
  const { url, resources, changes, previewMs, upMs } = deployment;
  return JSON.stringify({
    ok: true,
    url,
    reply: exchange?.reply ?? null,
    resources,
    changes,
    timings: {
      engineMs: world.engine.ms,
      previewMs,
      upMs,
      coldStartMs: exchange?.coldStartMs ?? null,
      replyMs: exchange?.replyMs ?? null,
    },
  });
}

function attachedProviders({ engine }: World): string {
  const own = Object.entries(engine.official).flatMap(([name, official]) => (official ? [] : [name]));
  return own.length === 0
    ? "official providers"
    : `the project's own providers for what is not installed (${own.join(", ")})`;
}

function signInHint(world: World): string {
  const { adminToken } = world.settings.secrets;
  return world.limits.length > 0
    ? "(the local identity gateway asks for an e-mail: operator@example.com)"
    : `(Authorization: Bearer ${adminToken})`;
}
