import { expect, onTestFinished, test } from "vitest";
import { mention, startSlack } from "../../../rehearsal/standins/slack.ts";
import { BUCKET_KEYS } from "../../../runtime/contract/backup.ts";
import { startModule } from "../../support/module-worker.ts";
import { temporaryDirectory } from "../support/processes.ts";

const SECRETS = { botToken: "xoxb-1", signingSecret: "secret" };
const CONNECTIONS = 16;
const SOON = { timeout: 60_000 };
const MINUTE_MS = 60_000;
/** Time until the directory is reached: long enough that more events come meanwhile. */
const DIRECTORY_MS = 100;

/** A call between the Worker and its objects. */
interface Call {
  to: string;
  method: string;
  at: number;
}

/** The whole Worker and its objects, whose calls to each other are noted, over stand-in containers. */
const source = (variables: Record<string, string>): string => `
  import worker from "./runtime/worker/worker.ts";
  import { Directory as PlainDirectory } from "./runtime/worker/directory.ts";
  import { Sandbox as PlainSandbox } from "./test/support/workerd/sandbox-object.ts";
  const calls = [];
  const containers = new Set();
  const counted = (kind, namespace) => ({
    getByName: (name) => new Proxy(namespace.getByName(name), {
      get: (object, method) => async (...given) => {
        calls.push({ to: kind + " " + name, method, at: Date.now() });
        if (kind === "directory") await new Promise((resolve) => setTimeout(resolve, ${DIRECTORY_MS}));
        return object[method](...given);
      },
    }),
  });
  const bound = (env) => ({
    ...env,
    ...${JSON.stringify(variables)},
    SANDBOX: counted("chat", env.OBJECT),
    DIRECTORY: counted("directory", env.DIRECTORY),
  });
  export class Sandbox extends PlainSandbox {
    constructor(ctx, env) {
      super(ctx, bound(env));
      ctx.container.answers = true;
      containers.add(ctx.container);
    }
  }
  export class Directory extends PlainDirectory {
    constructor(ctx, env) { super(ctx, bound(env)); }
  }
  export default {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === "/calls") return Response.json(calls.splice(0));
      if (pathname === "/config") {
        await env.STATE.put(${JSON.stringify(BUCKET_KEYS.config)}, await request.text());
        return new Response();
      }
      if (pathname === "/containers") {
        const all = [...containers];
        const sum = (pick) => all.reduce((so, one) => so + pick(one), 0);
        return Response.json({ starts: sum((one) => one.starts), answered: sum((one) => one.answered) });
      }
      if (pathname === "/step") {
        const step = await request.json();
        return Response.json(await env.OBJECT.getByName(step.object).step(step));
      }
      return worker.fetch(request, bound(env));
    },
  };
`;

async function deployment() {
  const slack = await startSlack({ hostname: "127.0.0.1", port: 0, ...SECRETS });
  onTestFinished(() => slack.close());
  const variables = {
    TENANCY: "chat",
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: SECRETS.botToken,
    SLACK_SIGNING_SECRET: SECRETS.signingSecret,
    PUBLIC_WEBHOOKS: "true",
  };
  const dir = await temporaryDirectory();
  const { url, close } = await startModule(source(variables), "Sandbox", dir, { directory: true });
  onTestFinished(close);
  const read = async <T>(path: string, body?: string): Promise<T> => {
    const init = body === undefined ? {} : { method: "POST", body };
    return (await (await fetch(new URL(path, url), init)).json()) as T;
  };
  const send = async (event: unknown, allowed = [200]): Promise<void> => {
    const answer = await fetch(new URL("/slack/events", url), { method: "POST", ...slack.sign(event) });
    await answer.body?.cancel();
    expect(allowed).toContain(answer.status);
  };
  return {
    slack,
    send,
    /** Sends events, some at a time. */
    async flood(events: unknown[], allowed?: number[]): Promise<void> {
      const left = events.values();
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          for (const event of left) await send(event, allowed);
        }),
      );
    },
    config: (config: object) =>
      fetch(new URL("/config", url), { method: "POST", body: JSON.stringify(config) }),
    /** The calls since this was asked last. */
    calls: () => read<Call[]>("/calls"),
    containers: () => read<{ starts: number; answered: number }>("/containers"),
    /** Lets time pass for a chat's object, and its alarms fire. */
    pass: (object: string, ms: number) =>
      read<unknown>("/step", JSON.stringify({ object, name: "pass", given: [ms] })),
  };
}

/** Questions to the object that served every chat: the directory's only one, and one of a chat that gets a container. */
const FORMER = ["chat steward: servedAllSince", "chat steward: moveOut"];

const named = (calls: Call[]): string[] => calls.map(({ to, method }) => `${to}: ${method}`);

/** An event with a time of its own, so that one in a channel begins a thread. */
function event(index: number, fields: object) {
  const ts = `${1_795_000_000 + index}.000100`;
  const id = { event_id: `Ev${index}`, team_id: "T1" };
  return { type: "event_callback", ...id, event: { user: "UFLOOD", text: "let me in", ts, ...fields } };
}

const threads = (count: number, channel: string) =>
  Array.from({ length: count }, (_, index) => event(index, { type: "app_mention", channel }));

test("an event of a chat that is let in is one call to its object, and none to the directory", async () => {
  const { send, calls, containers, pass } = await deployment();
  const answered = async (): Promise<number> => (await containers()).answered;
  await send(mention("hello", { chat: "C1" }));
  await expect.poll(answered, SOON).toBe(1);
  expect(named(await calls())).toEqual(["chat slack-C1: admit", "directory steward: introduce", ...FORMER]);

  for (let count = 2; count <= 51; count += 1) await send(mention("hello", { chat: "C1" }));
  await expect.poll(answered, SOON).toBe(51);
  expect(named(await calls())).toEqual(Array.from({ length: 50 }, () => "chat slack-C1: admit"));

  // The time for a report comes once a minute, however many events there were.
  await pass("slack-C1", 1_000);
  for (let count = 0; count < 20; count += 1) await send(mention("hello", { chat: "C1" }));
  await pass("slack-C1", MINUTE_MS);
  const later = named(await calls());
  expect(later.filter((call) => call.startsWith("directory"))).toEqual(
    Array.from({ length: 2 }, () => "directory steward: report"),
  );
  expect(later.filter((call) => call.startsWith("chat"))).toHaveLength(20);
});

test("the first events of a chat that come together are one question to the directory", async () => {
  const { flood, calls, containers } = await deployment();
  // Slack is asked to send an event again while the container starts, though it is recorded.
  await flood(threads(40, "C1"), [200, 503]);
  await expect.poll(async () => (await containers()).answered, SOON).toBe(40);
  const all = named(await calls());
  expect(all.filter((call) => call.startsWith("directory"))).toEqual(["directory steward: introduce"]);
  expect(all.filter((call) => call.startsWith("chat slack"))).toHaveLength(40);
  expect(all.filter((call) => call.startsWith("chat steward"))).toEqual(FORMER);
});

/** Expects at most one call to the directory in ten seconds, and one to the chat's object for each event. */
function expectFew(calls: Call[], events: number): void {
  const asked = calls.filter(({ to }) => to.startsWith("directory"));
  expect(new Set(named(asked))).toEqual(new Set(["directory steward: introduce"]));
  const waits = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(10_000);
  const admitted = calls.filter(({ to }) => to.startsWith("chat slack"));
  expect(admitted).toHaveLength(events);
  const former = calls.filter(({ to }) => to.startsWith("chat steward"));
  // Each object of the directory asks once, and one that is asked nothing for ten seconds may be evicted.
  expect(new Set(named(former))).toEqual(new Set(FORMER.slice(0, 1)));
  expect(former.length).toBeLessThanOrEqual(asked.length);
}

test(
  "10,000 events of a stranger ask the directory once in ten seconds, and start no container",
  { timeout: 600_000 },
  async () => {
    const { flood, calls, containers, slack } = await deployment();
    const direct = { type: "message", channel_type: "im", channel: "D9" };
    await flood(Array.from({ length: 10_000 }, (_, index) => event(index, direct)));
    const all = await calls();
    expectFew(all, 10_000);
    expect(await containers()).toEqual({ starts: 0, answered: 0 });
    const questions = all.filter(({ method }) => method === "introduce").length;
    await expect.poll(() => slack.messages().length, SOON).toBe(questions);
  },
);

test(
  "so do those of a group that is not listed, each in a thread of its own",
  { timeout: 120_000 },
  async () => {
    const { flood, calls, containers, config, slack } = await deployment();
    await config({ channels: { slack: { groupPolicy: "allowlist" } } });
    await flood(threads(1_000, "C7"));
    expectFew(await calls(), 1_000);
    expect(await containers()).toEqual({ starts: 0, answered: 0 });
    expect(slack.messages()).toEqual([]);
  },
);
