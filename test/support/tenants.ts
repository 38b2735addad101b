import { readdir } from "node:fs/promises";
import { expect } from "vitest";
import type { LedgerCounts } from "../../runtime/edge/ports.ts";
import { openIdentityGateway } from "./identity-keys.ts";
import { environsOf, startWorker } from "./worker.ts";

let count = 0;

/** Returns a direct message if the chat's id begins with D, otherwise a mention. */
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

interface Flooded {
  postSlack(event: unknown): Promise<Response>;
  counts(tenant: string): Promise<LedgerCounts>;
}

/** Sends 300 messages from a stranger. Returns the HTTP statuses that occurred. */
export async function strangersFlood({ postSlack, counts }: Flooded): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => postSlack(said("D9", "UFLOOD", "let me in"))),
    );
    for (const { status } of answers) statuses.add(status);
  }
  await noneOpen({ counts }, "slack-D9");
  return statuses;
}

/** Waits until a tenant has no open event, which would be answered together with the next. */
export async function noneOpen({ counts }: Pick<Flooded, "counts">, tenant: string): Promise<void> {
  const open = async (): Promise<number> => {
    const { waiting, delivering } = await counts(tenant);
    return waiting + delivering;
  };
  await expect.poll(open, { timeout: 120_000 }).toBe(0);
}

type Ask = (route: string) => Promise<Response>;

/** Returns a function that retries a CLI command until it succeeds. */
export function changesBy(ask: Ask): (line: string, tenant?: string) => Promise<void> {
  return async (line, tenant = "") => {
    const route = `/debug/cli?cmd=${encodeURIComponent(line)}&chat=${tenant}`;
    const answered = async (): Promise<string> => (await ask(route)).text();
    await expect.poll(answered, { timeout: 60_000 }).toContain('"exitCode":0');
  };
}

export async function byChat(variables: Record<string, string> = {}) {
  const identity = await openIdentityGateway();
  const service = await startWorker({ ...identity.variables, TENANCY: "chat", ...variables });
  const { slack, request } = service;
  const read = (chat: string): string[] =>
    slack
      .messages()
      .filter(({ channel }) => channel === chat)
      .map(({ text }) => text);
  const ask = (route: string, init: RequestInit = {}): Promise<Response> =>
    request(route, {
      redirect: "manual",
      ...init,
      headers: { ...identity.headers, "sec-fetch-site": "none", ...(init.headers as Record<string, string>) },
    });
  /** Default: the deployment's sandbox. */
  const cli = async (line: string, tenant = ""): Promise<string> => {
    const answer = await ask(`/debug/cli?cmd=${encodeURIComponent(line)}&chat=${tenant}`);
    const { stdout = "", ...problem } = (await answer.json()) as { stdout?: string };
    return stdout === "" ? JSON.stringify(problem) : stdout;
  };
  const counts = async (chat: string): Promise<LedgerCounts> => {
    const answer = await request(`/debug/ledger?chat=${chat}`, { headers: identity.headers });
    return ((await answer.json()) as { counts: LedgerCounts }).counts;
  };
  const containers = async (): Promise<number> => (await readdir(service.containers).catch(() => [])).length;
  const environments = async (tenant: string): Promise<Record<string, string>[]> => {
    const all = (await environsOf(service.containers)).map(readEnviron);
    return all.filter(({ STEWARD_TENANT: serves }) => serves === tenant);
  };
  const supervisor = async (tenant: string): Promise<Record<string, string> | undefined> =>
    (await environments(tenant)).find(({ STEWARD_CONTROL_TOKEN: token }) => token !== undefined);
  const tenantsWith = async (variable: string, value: string): Promise<string[]> => {
    const all = (await environsOf(service.containers)).map(readEnviron);
    const found = all
      .filter((one) => one[variable] === value)
      .map(({ STEWARD_TENANT: tenant = "" }) => tenant);
    return [...new Set(found)].sort();
  };
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
    change: changesBy(ask),
    counts,
    containers,
    environs,
    environments,
    supervisor,
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
