import { chown, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { CONTAINER_USER } from "../../runtime/contract/names.ts";
import type { LedgerCounts } from "../../runtime/edge/ports.ts";
import { type HostOptions, startHost } from "./host.ts";
import { changesBy } from "./tenants.ts";

/** Command prefix for the container's privileges: root with few capabilities. */
export const AS_IN_CONTAINER = [
  "setpriv",
  "--bounding-set=-all,+chown,+kill,+setgid,+setuid",
  "--inh-caps=-all",
  "--no-new-privs",
];

/** Command prefix for a shared gateway's privileges: the image's user without capabilities. */
const AS_STEWARD = [
  "setpriv",
  `--reuid=${CONTAINER_USER}`,
  `--regid=${CONTAINER_USER}`,
  "--clear-groups",
  "--bounding-set=-all",
  "--inh-caps=-all",
  "--no-new-privs",
];

export interface TenantProcess {
  pid: number;
  uid: number;
  environment: Record<string, string>;
}

/** Starts a host with one gateway per chat, each as a different user. Needs root. */
export async function hostByChat(
  environment: Record<string, string> = {},
  { prepare }: Pick<HostOptions, "prepare"> = {},
) {
  const environmentOf = (changed: Record<string, string>) => ({
    TENANCY: "chat",
    ...environment,
    ...changed,
  });
  const prefixOf = ({ TENANCY: tenancy }: Record<string, string>) =>
    tenancy === "shared" ? AS_STEWARD : AS_IN_CONTAINER;
  const first = environmentOf({});
  const host = await startHost({
    build: "bundle",
    environment: first,
    prepare: async (home) => {
      await chown(home, CONTAINER_USER, CONTAINER_USER);
      await prepare?.(home);
    },
    before: prefixOf(first),
  });
  const ask = (route: string, init: RequestInit = {}): Promise<Response> =>
    host.request(route, {
      redirect: "manual",
      ...init,
      headers: {
        ...host.admin.headers,
        "sec-fetch-site": "none",
        ...(init.headers as Record<string, string>),
      },
    });
  const processes = async (tenant?: string): Promise<TenantProcess[]> => {
    const all = (await tenantProcesses()).filter(({ environment: { STEWARD_HOME: home = "" } }) =>
      home.startsWith(path.join(host.home, "tenants")),
    );
    return all.filter(({ environment: one }) => tenant === undefined || one["STEWARD_TENANT"] === tenant);
  };
  return {
    ...host,
    resume: (changed: Record<string, string>): Promise<void> =>
      host.resume(environmentOf(changed), prefixOf(environmentOf(changed))),
    read: (chat: string): string[] =>
      host.slack
        .messages()
        .filter(({ channel }) => channel === chat)
        .map(({ text }) => text),
    ask,
    /** Default: the deployment's sandbox. */
    async cli(line: string, tenant = ""): Promise<string> {
      const answer = await ask(`/debug/cli?cmd=${encodeURIComponent(line)}&chat=${tenant}`);
      const { stdout = "", ...problem } = (await answer.json()) as { stdout?: string };
      return stdout === "" ? JSON.stringify(problem) : stdout;
    },
    change: changesBy(ask),
    async counts(tenant: string): Promise<LedgerCounts> {
      const answer = await ask(`/debug/ledger?chat=${tenant}`);
      return ((await answer.json()) as { counts: LedgerCounts }).counts;
    },
    processes,
    running: async (): Promise<string[]> =>
      [...new Set((await processes()).map(({ environment: one }) => one["STEWARD_TENANT"] ?? ""))].sort(),
    folder: (tenant: string): string => path.join(host.home, "tenants", tenant),
  };
}

async function tenantProcesses(): Promise<TenantProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!text.includes("STEWARD_TENANT=")) return [];
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      const [, uid] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
      if (uid === undefined) return [];
      const pairs = text.split("\0").filter((line) => line.includes("="));
      const environment = Object.fromEntries(
        pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
      );
      return [{ pid: Number(pid), uid: Number(uid), environment }];
    }),
  );
  return found.flat();
}

export async function rightsOf(file: string): Promise<{ uid: number; mode: number }> {
  const { uid, mode } = await stat(file);
  return { uid, mode: mode & 0o777 };
}
