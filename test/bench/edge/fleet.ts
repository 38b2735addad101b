import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { monthlyCost } from "../../../infra/serverless/cost.ts";
import { tenantOf } from "../../../runtime/contract/tenant.ts";
import type { TenantReport } from "../../../runtime/edge/tenants/ports.ts";
import { Waves } from "../../../runtime/edge/tenants/waves.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { figure, type Figure, residentMb, startedAs } from "../../support/measure.ts";
import { type ModuleWorker, startModule } from "../../support/module-worker.ts";
import { COUNTS } from "../../support/roster.ts";
import type { RunOptions } from "../run.ts";

const TENANTS = 10_000;
const FEW = 1_000;
/** Containers that a deployment may run at most. */
const RUNNING = 500;
const MESSAGES = 8;
const BETWEEN_MS = 30_000;
const DAY_MS = 86_400_000;
/** One chat in ten has one conversation a day. */
const TALKING = TENANTS / 10;
/** Rounds of reports after which the heap no longer grows. */
const ROUNDS = 30;
/** Interval at which a container that waits for its replacement asks; `RENEW_AGAIN_MS` of the Worker. */
const ASK_MS = 10_000;
/** Time from the permission until the new container is ready: backup, stop and cold start. */
const REPLACED_MS = 15_000;
const LONGEST_UPDATE_MS = 3_600_000;
const SLEEP_AFTER = "10m";
/** Hours that a container is awake for one conversation, with the time until it sleeps. */
const AWAKE_HOURS = (MESSAGES * BETWEEN_MS) / 3_600_000 + 10 / 60;
const DAYS = 365 / 12;
const KB = 1_000;

/**
 * Prices in US dollars that the preview's estimate omits, and the plan's monthly allowances:
 * https://developers.cloudflare.com/durable-objects/platform/pricing/ and
 * https://developers.cloudflare.com/r2/pricing/
 */
const PRICES: Readonly<Record<keyof Used, { each: number; free: number }>> = {
  requests: { each: 0.15 / 1e6, free: 1e6 },
  written: { each: 1 / 1e6, free: 50e6 },
  read: { each: 0.001 / 1e6, free: 25e9 },
  puts: { each: 4.5 / 1e6, free: 1e6 },
  gets: { each: 0.36 / 1e6, free: 10e6 },
};

/** Use that is billed. An alarm counts as a request, and setting it as a written row. */
interface Used {
  requests: number;
  written: number;
  read: number;
  puts: number;
  gets: number;
}
type Counted = Used & { directory: number; alarms: number };

/** The objects of a deployment over stand-in containers. Their calls, rows and operations on the bucket are counted. */
const SOURCE = `
  import { Directory as PlainDirectory } from "./runtime/worker/directory.ts";
  import { Sandbox as PlainSandbox } from "./test/support/workerd/sandbox-object.ts";
  const used = { requests: 0, directory: 0, puts: 0, gets: 0 };
  const cursors = [];
  const calls = (namespace, ...counters) => ({
    getByName: (name) => new Proxy(namespace.getByName(name), {
      get: (object, method) => (...given) => {
        for (const counter of ["requests", ...counters]) used[counter] += 1;
        return object[method](...given);
      },
    }),
  });
  const operations = { put: "puts", list: "puts", delete: undefined, get: "gets", head: "gets" };
  const counted = (bucket) => new Proxy(bucket, {
    get: (object, method) => (...given) => {
      if (operations[method]) used[operations[method]] += 1;
      return object[method](...given);
    },
  });
  const bound = (env) => ({
    ...env,
    TENANCY: "chat",
    SANDBOX_SLEEP_AFTER: "${SLEEP_AFTER}",
    LOG_LEVEL: "error",
    STATE: counted(env.STATE),
    SANDBOX: calls(env.OBJECT),
    DIRECTORY: calls(env.DIRECTORY, "directory"),
  });
  const watch = ({ storage }) => {
    const { sql } = storage;
    const exec = (...given) => {
      const cursor = sql.exec(...given);
      cursors.push(cursor);
      return cursor;
    };
    Object.defineProperty(storage, "sql", { value: { exec } });
    return () => sql.databaseSize;
  };
  export class Sandbox extends PlainSandbox {
    constructor(ctx, env) {
      const stored = watch(ctx);
      super(ctx, bound(env));
      ctx.container.answers = true;
      this.size = stored;
    }
    stored() { return this.size(); }
  }
  export class Directory extends PlainDirectory {
    constructor(ctx, env) {
      watch(ctx);
      super(ctx, bound(env));
    }
  }
  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/used") {
        const [read, written] = ["rowsRead", "rowsWritten"].map((what) => cursors.reduce((sum, one) => sum + one[what], 0));
        cursors.length = 0;
        const all = { ...used, read, written };
        for (const counter of Object.keys(used)) used[counter] = 0;
        return Response.json(all);
      }
      if (pathname === "/stored") return Response.json(await env.OBJECT.getByName(searchParams.get("object")).stored());
      if (pathname === "/tenants") {
        const directory = env.DIRECTORY.getByName("steward");
        const { first, ids, report } = await request.json();
        for (const id of ids) {
          if (first) await directory.meet(id);
          await directory.report(id, report);
        }
        cursors.length = 0;
        return Response.json(await directory.tenants({ limit: 100 }));
      }
      const step = await request.json();
      if (step.name === "admit") used.requests += 1;
      return Response.json(await env.OBJECT.getByName(step.object).step(step));
    },
  };
`;

async function post<T>({ url }: ModuleWorker, path: string, body: object): Promise<T> {
  const answer = await fetch(new URL(path, url), { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

interface Days {
  talking: Counted;
  idle: Counted;
  /** Bytes of the chat's object. */
  stored: number;
}

/** Measures a chat's day with a conversation, and a day without one. */
async function daysOfChat(worker: ModuleWorker): Promise<Days> {
  const object = tenantOf({ platform: "slack", chat: "C0FLEET" });
  const step = async <T>(name: string, ...given: unknown[]): Promise<T> => {
    const { value, error } = await post<{ value: T; error?: object }>(worker, "/step", {
      object,
      name,
      given,
    });
    if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return value;
  };
  let fired = 0;
  const used = async (): Promise<Counted> => {
    const before = fired;
    ({ fired } = await step<{ fired: number }>("seen"));
    const alarms = fired - before;
    const { requests, written, ...counted } = await post<Omit<Counted, "alarms">>(worker, "/used", {});
    return { ...counted, requests: requests + alarms, written: written + alarms, alarms };
  };
  let sent = 0;
  const day = async (messages: number): Promise<Counted> => {
    for (let message = 0; message < messages; message += 1) {
      sent += 1;
      const event = { type: "app_mention", channel: "C0FLEET", user: "U1", text: "hello", ts: `${sent}.1` };
      const payload = { type: "event_callback", event_id: `Ev${sent}`, team_id: "T1", event };
      await step("admit", {
        id: `Ev${sent}`,
        platform: "slack",
        conversation: "C0FLEET",
        receivedAt: Date.now(),
        payload,
      });
      await step("pass", BETWEEN_MS);
    }
    await step("pass", DAY_MS - messages * BETWEEN_MS);
    const { running } = await step<{ running: boolean }>("seen");
    if (running) throw new Error("the chat's container still runs at the end of the day");
    return used();
  };
  await day(MESSAGES);
  const days = { talking: await day(MESSAGES), idle: await day(0) };
  return { ...days, stored: await post<number>(worker, `/stored?object=${object}`, {}) };
}

/** Resident memory of workerd with few chats and with many, after as many reports, in MB. */
async function directoryMemory(worker: ModuleWorker): Promise<{ few: number; many: number }> {
  const [pid = 0] = startedAs(process.pid, "bin/workerd");
  const ids = Array.from({ length: TENANTS }, (_, index) =>
    tenantOf({ platform: "slack", chat: `C${index}` }),
  );
  const report = {
    running: false,
    version: "0.1.0",
    counts: COUNTS,
    usedAt: new Date().toISOString(),
  } satisfies TenantReport;
  const tell = (from: number, first: boolean): Promise<unknown> =>
    post(worker, "/tenants", { first, ids: ids.slice(from, from + FEW), report });
  await tell(0, true);
  // The first calls make the heap grow in any case.
  for (let round = 0; round < ROUNDS; round += 1) await tell(0, false);
  const few = residentMb(pid);
  for (let from = FEW; from < TENANTS; from += FEW) await tell(from, true);
  return { few, many: residentMb(pid) };
}

/**
 * Simulates an update with as many running containers as a deployment may have. Each asks every `ASK_MS`, and is ready
 * `REPLACED_MS` after its permission.
 */
async function rollout(file: string) {
  const sql = openSqlite(file);
  let now = 0;
  const ready = new Map<string, number>();
  const waves = new Waves({
    sql,
    version: "v2",
    canaries: [],
    knows: () => true,
    isWell: () => true,
    look: async (tenant) => (now >= (ready.get(tenant) ?? Number.POSITIVE_INFINITY) ? "answers" : "starts"),
    clock: () => now,
  });
  const waiting = Array.from({ length: RUNNING }, (_, index) => ({
    tenant: `slack-C${index}`,
    at: (index * ASK_MS) / RUNNING,
  }));
  let [questions, lookedAfter] = [0, 0];
  const started = performance.now();
  while (waiting.length > 0 || waves.progress().answering < RUNNING) {
    const next = waiting.shift();
    now = next?.at ?? now + ASK_MS;
    if (now > LONGEST_UPDATE_MS) throw new Error("the update does not end");
    if (next === undefined) {
      lookedAfter += 1;
      await waves.look();
      continue;
    }
    questions += 1;
    if (await waves.mayRenew(next.tenant)) ready.set(next.tenant, now + REPLACED_MS);
    else waiting.push({ ...next, at: now + ASK_MS });
  }
  const took = performance.now() - started;
  sql.close();
  return { seconds: now / 1_000, questions, each: took / (questions + lookedAfter) };
}

/** Returns the monthly cost of all chats in US dollars: the containers, and the rest. */
function monthlyCostOf(talking: Used): { containers: number; rest: number } {
  const containers = monthlyCost({
    instanceType: "lite",
    sleepAfter: SLEEP_AFTER,
    maxSandboxes: RUNNING,
    awakeHours: TALKING * AWAKE_HOURS,
  });
  const costs = (Object.keys(PRICES) as (keyof Used)[]).map((what) => {
    const { each, free } = PRICES[what];
    return Math.max(talking[what] * TALKING * DAYS - free, 0) * each;
  });
  return { containers, rest: costs.reduce((sum, one) => sum + one, 0) };
}

interface Run extends Days {
  memory: Awaited<ReturnType<typeof directoryMemory>>;
  update: Awaited<ReturnType<typeof rollout>>;
  cost: ReturnType<typeof monthlyCostOf>;
}

/** Measures a deployment of many chats: a chat's day, an update, the directory's memory, and the cost. */
export async function benchFleet({ runs, folder }: Pick<RunOptions, "runs" | "folder">): Promise<Figure[]> {
  const all: Run[] = [];
  for (let run = 0; run < runs; run += 1) {
    const dir = join(folder, `fleet${run}`);
    await mkdir(dir, { recursive: true });
    const worker = await startModule(SOURCE, "Sandbox", dir, { directory: true });
    try {
      const days = await daysOfChat(worker);
      const memory = await directoryMemory(worker);
      all.push({
        ...days,
        memory,
        update: await rollout(join(dir, "update.db")),
        cost: monthlyCostOf(days.talking),
      });
    } finally {
      await worker.close();
    }
  }
  const of = (pick: (run: Run) => number): number[] => all.map(pick);
  const day = `a chat's day with a conversation of ${MESSAGES} messages`;
  const month = `a month of ${TENANTS} chats, each with such a day one day in ten`;
  return [
    figure(
      `${day}: calls of objects, alarms included`,
      "count",
      of(({ talking }) => talking.requests),
    ),
    figure(
      "of these, calls of the directory",
      "count",
      of(({ talking }) => talking.directory),
    ),
    figure(
      `${day}: alarms`,
      "count",
      of(({ talking }) => talking.alarms),
    ),
    figure(
      `${day}: rows written`,
      "count",
      of(({ talking }) => talking.written),
    ),
    figure(
      `${day}: operations on the bucket`,
      "count",
      of(({ talking }) => talking.puts + talking.gets),
    ),
    figure(
      "a chat's day in which nobody writes: calls, alarms, rows and operations",
      "count",
      of(({ idle }) => Object.values(idle).reduce((sum, one) => sum + one, 0)),
      0,
    ),
    figure(
      "storage of a chat's object after two such days",
      "KB",
      of(({ stored }) => stored / KB),
    ),
    figure(
      `an update of ${RUNNING} running containers, simulated: until all answer, each ${REPLACED_MS / 1_000} s after its turn`,
      "s",
      of(({ update }) => update.seconds),
    ),
    figure(
      "meanwhile, questions to the directory",
      "count",
      of(({ update }) => update.questions),
    ),
    figure(
      "meanwhile, time of one question, on disk",
      "ms",
      of(({ update }) => update.each),
    ),
    figure(
      `memory of workerd and the directory with ${TENANTS} chats, against ${FEW}`,
      "ratio",
      of(({ memory }) => memory.many / memory.few),
      1.15,
    ),
    figure(
      `${month}: containers, by the preview's estimate`,
      "USD",
      of(({ cost }) => cost.containers),
    ),
    figure(
      `${month}: what the estimate leaves out`,
      "USD",
      of(({ cost }) => cost.rest),
    ),
  ];
}
