import { readdir } from "node:fs/promises";
import type { LedgerCounts } from "../../runtime/edge/ports.ts";
import { openIdentityGateway } from "./identity-keys.ts";
import { environsOf, startWorker } from "./worker.ts";

let count = 0;

/** A Slack event in a channel, or in a direct message for an id that begins with D. */
export function said(chat: string, user: string, text: string) {
  count += 1;
  const direct = chat.startsWith("D");
  return {
    type: "event_callback",
    event_id: `Ev${count}`,
    team_id: "T1",
    event: {
      type: direct ? "message" : "app_mention",
      ...(direct && { channel_type: "im" }),
      channel: chat,
      user,
      ts: `${1_795_000_000 + count}.000100`,
      text,
    },
  };
}

/** The Worker of {@link startWorker} with a sandbox for each chat, and an operator's identity. */
export async function byChat(variables: Record<string, string> = {}) {
  const identity = await openIdentityGateway();
  const service = await startWorker({ ...identity.variables, TENANCY: "chat", ...variables });
  const { slack, request } = service;
  /** Texts that a chat has read. */
  const read = (chat: string): string[] =>
    slack
      .messages()
      .filter(({ channel }) => channel === chat)
      .map(({ text }) => text);
  /** Asks as an operator. */
  const ask = (route: string, init: RequestInit = {}): Promise<Response> =>
    request(route, {
      redirect: "manual",
      ...init,
      headers: { ...identity.headers, "sec-fetch-site": "none", ...(init.headers as Record<string, string>) },
    });
  /** Runs a line in a tenant's sandbox, or in that of the deployment. */
  const cli = async (line: string, tenant = ""): Promise<string> => {
    const answer = await ask(`/debug/cli?cmd=${encodeURIComponent(line)}&chat=${tenant}`);
    const { stdout = "", ...problem } = (await answer.json()) as { stdout?: string };
    return stdout === "" ? JSON.stringify(problem) : stdout;
  };
  const counts = async (chat: string): Promise<LedgerCounts> => {
    const answer = await request(`/debug/ledger?chat=${chat}`, { headers: identity.headers });
    return ((await answer.json()) as { counts: LedgerCounts }).counts;
  };
  /** Containers that run. */
  const containers = async (): Promise<number> => (await readdir(service.containers).catch(() => [])).length;
  /** The environments of the processes in a tenant's container. */
  const environments = async (tenant: string): Promise<Record<string, string>[]> => {
    const all = (await environsOf(service.containers)).map(readEnviron);
    return all.filter(({ STEWARD_TENANT: serves }) => serves === tenant);
  };
  /** Tenants whose container was started with a value of a variable. */
  const tenantsWith = async (variable: string, value: string): Promise<string[]> => {
    const all = (await environsOf(service.containers)).map(readEnviron);
    const found = all
      .filter((one) => one[variable] === value)
      .map(({ STEWARD_TENANT: tenant = "" }) => tenant);
    return [...new Set(found)].sort();
  };
  /** The environments of all containers' processes, as the kernel has them. */
  const environs = () => environsOf(service.containers);
  const stop = async (): Promise<void> => {
    await service.stop();
    await identity.close();
  };
  const folder = service.containers;
  const operator = identity.headers;
  return {
    ...service,
    folder,
    operator,
    read,
    ask,
    cli,
    counts,
    containers,
    environs,
    environments,
    tenantsWith,
    stop,
  };
}

function readEnviron(text: string): Record<string, string> {
  const pairs = text.split("\0").filter((line) => line.includes("="));
  return Object.fromEntries(
    pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}
