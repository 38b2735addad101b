import { createHmac } from "node:crypto";
import path from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { listen, type Listening } from "../../rehearsal/standins/serve.ts";
import { CONTROL_ROUTES, GATEWAY_ROUTES } from "../../runtime/contract/control.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { filesBelow, leaks, textOf } from "../support/leaks.ts";
import { byChat, said } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 180_000 };
const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const PAGE = { accept: "text/html" };
const ATTESTATION_KEY = "0f".repeat(32);
/** Texts that each of the two chats alone may hold. */
const WORDS = {
  C1: { message: "apricot-4711", file: "bramble-4711", schedule: "cicely-4711" },
  C2: { message: "quince-8022", file: "rowan-8022", schedule: "sorrel-8022" },
} as const;
type Chat = keyof typeof WORDS;
const CHATS = ["C1", "C2"] as const;
const OTHER = { C1: "C2", C2: "C1" } as const;
/** A file of Slack's that is in the second chat alone. */
const FILE_OF_C2 = "F0FC2";

type World = Awaited<ReturnType<typeof byChat>>;

/** Slack's address as the Worker knows it: records each call, and passes it on to the stand-in. */
async function slackRecorder() {
  const calls: string[] = [];
  let apiUrl = "";
  const app = new Hono();
  app.post("/api/:method", async ({ req }) => {
    const method = req.param("method");
    const body = await req.text();
    calls.push(`${method}?${body}`);
    if (method === "files.info")
      return Response.json({ ok: true, file: { id: FILE_OF_C2, channels: ["C2"] } });
    const { authorization = "", "content-type": type = "" } = req.header();
    const headers = { authorization, "content-type": type };
    const answer = await fetch(`${apiUrl}${method}`, { method: "POST", headers, body });
    return Response.json(await answer.json());
  });
  const server: Listening = await listen(app, LOOPBACK);
  return {
    calls,
    url: `${server.url}/api/`,
    passOnTo: (url: string): void => void (apiUrl = url),
    close: () => server.close(),
  };
}

/** Speaks with a container's own pass, from the environment of its processes. */
async function insider({ supervisor }: World, chat: Chat) {
  const environment = await supervisor(`slack-${chat}`);
  if (environment === undefined) throw new Error(`no container serves ${chat}`);
  const { STEWARD_BROKER_URL: broker = "", SLACK_BOT_TOKEN: pass = "" } = environment;
  return {
    environment,
    broker,
    pass,
    /** @returns the status, and the problem's code or Slack's answer. */
    async call(operation: string, fields: Record<string, string> = {}, at = broker, by = pass) {
      const answer = await fetch(`${at}/slack/${operation}`, {
        method: "POST",
        headers: { ...FORM, authorization: `Bearer ${by}` },
        body: new URLSearchParams(fields).toString(),
      });
      const body = (await answer.json()) as Record<string, unknown>;
      return { status: answer.status, code: body["code"], body };
    },
  };
}

/** Every write of Slack's that an operation of the broker makes, about a chat. */
const writesTo = (channel: string, text: string): [string, Record<string, string>][] => [
  ["chat.postMessage", { channel, text, unfurl_links: "false", unfurl_media: "false" }],
  ["chat.update", { channel, ts: "1.2", text }],
  ["chat.postEphemeral", { channel, user: "U1", text }],
  ["reactions.add", { channel, timestamp: "1.2", name: "eyes" }],
  ["assistant.threads.setStatus", { channel_id: channel, thread_ts: "1.2", status: "is writing…" }],
];

const REFUSED = { status: 403, code: "broker_refused" };
const OTHER_CHAT = { status: 403, code: "broker_other_chat" };

describe("two chats whose containers run", SLOW, () => {
  let recorder: Awaited<ReturnType<typeof slackRecorder>>;
  let world: World;
  let one: Awaited<ReturnType<typeof insider>>;
  let two: Awaited<ReturnType<typeof insider>>;

  beforeAll(async () => {
    recorder = await slackRecorder();
    world = await byChat({ SLACK_API_URL: recorder.url, ATTESTATION_KEY, SANDBOX_SLEEP_AFTER: "1h" });
    recorder.passOnTo(world.slack.apiUrl);
    for (const chat of CHATS) {
      await world.postSlack(said(chat, "U1", WORDS[chat].message));
      await world.slack.waitFor(
        ({ channel, text }) => channel === chat && text.includes(WORDS[chat].message),
        SOON.timeout,
      );
    }
    one = await insider(world, "C1");
    two = await insider(world, "C2");
  }, 180_000);

  afterAll(async () => {
    await world.stop();
    await recorder.close();
  });

  test("a pass opens the path of its own chat alone", async () => {
    const deployment = one.broker.replace(/\/tenant\/.*$/, "");
    const never = one.broker.replace("slack-C1", "slack-C404");
    expect(one.broker).toMatch(/\/broker\/tenant\/slack-C1$/);
    expect(one.pass).not.toBe(two.pass);
    expect(await one.call("auth.test")).toMatchObject({ status: 200, body: { ok: true } });
    expect(await two.call("auth.test")).toMatchObject({ status: 200, body: { ok: true } });
    const before = recorder.calls.length;
    for (const at of [
      two.broker,
      deployment,
      never,
      `${one.broker}/../slack-C2`,
      `${one.broker}/tenant/slack-C2`,
      `${two.broker}/tenant/slack-C1`,
      `${deployment}/tenant/slack-C%32`,
      `${deployment}/tenant/steward`,
    ])
      expect([at, await one.call("auth.test", {}, at)]).toMatchObject([at, REFUSED]);
    expect(await two.call("auth.test", {}, one.broker)).toMatchObject(REFUSED);
    expect(await one.call("auth.test", {}, one.broker, "")).toMatchObject(REFUSED);
    expect(recorder.calls).toHaveLength(before);
  });

  test("a pass writes to its own chat alone", async () => {
    const calls = recorder.calls.length;
    const messages = world.slack.messages().length;
    for (const [operation, fields] of writesTo("C2", "from the neighbour"))
      expect([operation, await one.call(operation, fields)]).toMatchObject([operation, OTHER_CHAT]);
    for (const channel of ["@U1", "U1", "#general", "c1", "C1 ", "C1,C2", "D1", "slack-C1"])
      expect([channel, await one.call(...postTo(channel))]).toMatchObject([channel, OTHER_CHAT]);
    expect(recorder.calls).toHaveLength(calls);
    expect(world.slack.messages()).toHaveLength(messages);

    for (const [operation, fields] of writesTo("C1", "from the own container"))
      expect([operation, await one.call(operation, fields)]).toMatchObject([operation, { status: 200 }]);
    expect(recorder.calls.slice(calls).map((call) => call.split("?")[0])).toEqual(
      writesTo("C1", "").map(([operation]) => operation),
    );
    expect(world.read("C2").join()).not.toContain("own container");
  });

  test("fields that name both chats are refused", async () => {
    const calls = recorder.calls.length;
    const twice = async (body: string) => {
      const headers = { ...FORM, authorization: `Bearer ${one.pass}` };
      const answer = await fetch(`${one.broker}/slack/chat.postMessage`, { method: "POST", headers, body });
      return answer.status;
    };
    const rest = "text=a&unfurl_links=false&unfurl_media=false";
    expect(await twice(`channel=C1&channel=C2&${rest}`)).toBe(400);
    expect(await twice(`channel=C2&channel=C1&${rest}`)).toBe(400);
    expect(await twice(`channel=C1&channel_id=C2&${rest}`)).toBe(400);
    expect(recorder.calls).toHaveLength(calls);
  });

  test("files stay in the chat that they were made for", async () => {
    const reserved = await one.call("files.getUploadURLExternal", { filename: "a.txt", length: "5" });
    const { upload_url: url, file_id: id } = reserved.body;
    await fetch(String(url), { method: "POST", body: "hello" });
    const files = JSON.stringify([{ id }]);
    const complete = "files.completeUploadExternal";
    const calls = recorder.calls.length;
    expect(await one.call(complete, { files, channel_id: "C2" })).toMatchObject(OTHER_CHAT);
    expect(await two.call(complete, { files, channel_id: "C2" })).toMatchObject(OTHER_CHAT);
    expect(recorder.calls).toHaveLength(calls);
    expect(await one.call(complete, { files, channel_id: "C1" })).toMatchObject({ status: 200 });
    expect(world.read("C1").join("\n")).toContain("[file: a.txt]");
    expect(world.read("C2").join("\n")).not.toContain("a.txt");

    const headers = { authorization: `Bearer ${one.pass}` };
    const read = await fetch(`${one.broker}/slack/file?id=${FILE_OF_C2}`, { headers });
    expect([read.status, await read.json()]).toMatchObject([403, { code: OTHER_CHAT.code }]);
  });

  test("the tokens of one container open no port of another, and nothing at the Worker", async () => {
    const tokenOf = ({ environment }: typeof one): string => environment["STEWARD_CONTROL_TOKEN"] ?? "";
    const at = async ({ environment }: typeof one, port: string, route: string, token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`http://127.0.0.1:${environment[port]}${route}`, { headers });
      await answer.body?.cancel();
      return answer.status;
    };
    expect(tokenOf(one)).not.toBe(tokenOf(two));
    for (const [port, route] of [
      ["SUPERVISOR_PORT", CONTROL_ROUTES.status],
      ["SUPERVISOR_PORT", CONTROL_ROUTES.config],
      ["GATEWAY_PORT", GATEWAY_ROUTES.status],
    ] as const) {
      expect([route, await at(two, port, route, tokenOf(two))]).toEqual([route, 200]);
      for (const wrong of [tokenOf(one), one.pass, ""])
        expect([route, await at(two, port, route, wrong)]).toEqual([route, 401]);
    }

    const open: string[] = Object.values(ROUTES)
      .filter(({ access }) => access === "public")
      .map((route) => route.path);
    const inside = [...Object.values(CONTROL_ROUTES), ...Object.values(GATEWAY_ROUTES)];
    const closed = Object.values(ROUTES)
      .filter(({ access }) => access === "identity")
      .map((route) => route.path);
    for (const route of [...inside, ...closed]) {
      if (open.includes(route)) continue;
      for (const token of [tokenOf(one), one.pass]) {
        const headers = { authorization: `Bearer ${token}`, cookie: "steward-chat=slack-C2" };
        const answer = await world.request(`${route}?chat=slack-C2`, { headers, redirect: "manual" });
        await answer.body?.cancel();
        expect([route, [401, 403, 404].includes(answer.status)]).toEqual([route, true]);
      }
    }
  });

  test("a container cannot forge an event of another chat", async () => {
    const body = JSON.stringify(said("C2", "U1", "forged-1234"));
    const timestamp = String(Math.floor(Date.now() / 1_000));
    for (const secret of [one.pass, one.environment["SLACK_SIGNING_SECRET"] ?? "", ""]) {
      const mac = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
      const answer = await world.request("/slack/events", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-slack-request-timestamp": timestamp,
          "x-slack-signature": `v0=${mac}`,
        },
        body,
      });
      // A 503, since the deployment's own container sleeps: see webhook.ts.
      expect([answer.status, await answer.text()]).toEqual([
        503,
        expect.stringContaining("Nothing is stored"),
      ]);
    }
    expect(await world.counts("slack-C2")).toMatchObject({ answered: 1, waiting: 0, delivering: 0 });
  });

  test("no key of the deployment is in a container's processes", async () => {
    const keys = [...Object.values(world.secrets), ATTESTATION_KEY];
    for (const chat of CHATS) {
      const environments = await world.environments(`slack-${chat}`);
      expect(environments.length).toBeGreaterThanOrEqual(2);
      const seen = JSON.stringify(environments);
      expect(keys.filter((key) => leaks(seen, key))).toEqual([]);
      const { pass } = OTHER[chat] === "C1" ? one : two;
      expect(seen).not.toContain(pass);
    }
  });

  test("a schedule of one chat sends nothing to another", async () => {
    let due = 0;
    // The other chat's is due first.
    for (const chat of ["C2", "C1"] as const) {
      let answer = "";
      // The time may have passed before the command looks at it.
      for (let wait = 2_000; answer === "" || answer.includes("has passed"); wait *= 2) {
        due = Math.max(Date.now() + wait, due + 2_000);
        const at = new Date(due).toISOString();
        const line = `schedules add --to slack:${chat} --at ${at} --text ${WORDS.C1.schedule}-${chat}`;
        answer = await world.cli(line, "slack-C1");
      }
      expect(answer).toContain("Added");
    }
    await expect.poll(() => world.read("C1").join(), SOON).toContain(`${WORDS.C1.schedule}-C1`);
    expect(world.read("C2").join()).not.toContain(WORDS.C1.schedule);
  });

  test("what one chat says, writes and plans is in no other's folder, bucket, ledger or answers", async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    for (const chat of CHATS) {
      const { file, schedule } = WORDS[chat];
      const tenant = `slack-${chat}`;
      expect(await world.cli(`workspace write ${file}.md none -- "${file}"`, tenant)).toContain("Wrote");
      const to = `--to slack:${chat} --at ${tomorrow}`;
      expect(await world.cli(`schedules add ${to} --text ${schedule}-plan`, tenant)).toContain("Added");
      expect(await world.cli("backup create", tenant)).toMatch(/\d{8}T|Created|backup/i);
    }
    const stored = await world.withBucket(async (bucket) => {
      const { objects } = await bucket.list();
      return Promise.all(
        objects.map(async ({ key }): Promise<[string, Buffer]> => {
          const object = await bucket.get(key);
          return [key, Buffer.from(await (object as unknown as Response).arrayBuffer())];
        }),
      );
    });
    expect(stored.filter(([key]) => !/^steward\/tenants\/slack-C[12]\//.test(key))).toEqual([]);
    const [folders, databases] = await Promise.all([filesBelow(world.folder), filesBelow(world.storage)]);
    const placesOf = async (chat: Chat): Promise<Record<string, string>> => {
      const tenant = `slack-${chat}`;
      const environment = await world.supervisor(tenant);
      const home = environment?.["STEWARD_HOME"] ?? "";
      const object = path.basename(home);
      const joined = (files: [string, Buffer][]): string =>
        files.map(([name, content]) => name + textOf(content)).join("\n");
      const lines = [
        "sessions list",
        "schedules list",
        "workspace list",
        `workspace show ${WORDS[chat].file}.md`,
      ];
      const answers = await Promise.all(lines.map((line) => world.cli(line, tenant)));
      const routes = ["/debug/ledger", "/debug/logs", "/_admin/sessions", "/_admin/activity"];
      const pages = await Promise.all(
        routes.map(async (route) => (await world.ask(`${route}?chat=${tenant}`)).text()),
      );
      return {
        folder: joined(folders.filter(([name]) => name.startsWith(`${home}/`))),
        bucket: joined(stored.filter(([key]) => key.startsWith(`steward/tenants/${tenant}/`))),
        ledger: joined(databases.filter(([name]) => path.basename(name).startsWith(object))),
        answers: answers.join("\n"),
        pages: pages.join("\n"),
      };
    };
    for (const chat of CHATS) {
      const [own, other] = [WORDS[chat], WORDS[OTHER[chat]]];
      const places = await placesOf(chat);
      for (const [place, text] of Object.entries(places)) {
        const found = Object.values<string>(other).filter((word) => text.includes(word));
        expect([chat, place, found]).toEqual([chat, place, []]);
      }
      // The search finds what is there.
      const { folder = "", bucket = "", ledger = "", answers = "" } = places;
      for (const word of Object.values(own)) {
        expect([word, folder.includes(word)]).toEqual([word, true]);
        expect([word, bucket.includes(word)]).toEqual([word, true]);
      }
      expect(ledger).toContain(own.message);
      expect(answers).toContain(own.file);
    }
  });

  test("a pass of the run before is refused", async () => {
    expect(await one.call("auth.test")).toMatchObject({ status: 200 });
    await world.endContainer();
    await expect.poll(async () => (await world.environments("slack-C1")).length, SOON).toBe(0);
    // The platform notices the end of a container's processes a moment later.
    await expect.poll(() => one.call("auth.test"), SOON).toMatchObject(REFUSED);
    await world.postSlack(said("C1", "U1", "again-4711"));
    await expect.poll(() => world.read("C1").join(), SOON).toContain("again-4711");
    const next = await insider(world, "C1");
    expect(next.pass).not.toBe(one.pass);
    expect(await next.call("auth.test")).toMatchObject({ status: 200 });
    expect(await one.call("auth.test")).toMatchObject(REFUSED);
  });

  test("a pass does not become one for every chat when the deployment goes back to one sandbox", async () => {
    const last = await insider(world, "C1");
    await world.deploy({ TENANCY: "shared" });
    // The container outlives the version that has started it.
    expect(await world.environments("slack-C1")).not.toEqual([]);
    expect(await last.call(...postTo("C2"))).toMatchObject(REFUSED);
    expect(world.read("C2")).toHaveLength(1);
  });
});

test(
  "a chat's state does not become everyone's when the deployment goes back to one sandbox",
  SLOW,
  async () => {
    const world = await byChat({ SANDBOX_SLEEP_AFTER: "20s" });
    onTestFinished(world.stop);
    await world.postSlack(said("C1", "U1", WORDS.C1.message));
    await expect.poll(() => world.read("C1").join(), SOON).toContain(WORDS.C1.message);
    // The update ends the object in whatever it does.
    await expect.poll(() => world.counts("slack-C1"), SOON).toMatchObject({ answered: 1 });
    await world.deploy({ TENANCY: "shared" });
    await expect.poll(async () => (await world.environments("slack-C1")).length, SOON).toBe(0);
    const keys = await world.withBucket(async (bucket) =>
      (await bucket.list()).objects.map(({ key }) => key),
    );
    expect(keys).not.toEqual([]);
    expect(keys.filter((key) => !key.startsWith("steward/tenants/slack-C1/"))).toEqual([]);
  },
);

function postTo(channel: string): [string, Record<string, string>] {
  return ["chat.postMessage", { channel, text: "a", unfurl_links: "false", unfurl_media: "false" }];
}

describe("a chat that was never let in", SLOW, () => {
  let world: World;
  beforeAll(async () => {
    world = await byChat();
    await world.postSlack(said("D9", "UANN", "may I?"));
    await world.slack.waitFor(({ text }) => text.includes("Your pairing code:"), SOON.timeout);
  }, 120_000);
  afterAll(() => world.stop());

  const keys = (): Promise<string[]> =>
    world.withBucket(async (bucket) => (await bucket.list()).objects.map(({ key }) => key));

  test("is chosen by nobody without an identity", async () => {
    for (const route of ["/_admin/", "/debug/cli?cmd=sessions%20list", "/debug/ledger", "/debug/logs"]) {
      const plain = await world.request(route, { redirect: "manual" });
      const chosen = `${route}${route.includes("?") ? "&" : "?"}chat=slack-C2`;
      for (const [address, cookie] of [
        [chosen, ""],
        [route, "steward-chat=slack-C2"],
      ] as const) {
        const headers = cookie === "" ? {} : { cookie };
        const answer = await world.request(address, { headers, redirect: "manual" });
        expect([address, answer.status]).toEqual([address, plain.status]);
        expect([401, 403]).toContain(answer.status);
      }
      const foreign = { ...PAGE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
      expect((await world.ask(chosen, { method: "POST", headers: foreign })).status).toBe(403);
    }
  });

  test("gets no object by a stranger's requests", async () => {
    const databases = async (): Promise<string[]> =>
      (await filesBelow(world.storage)).map(([name]) => name).filter((name) => name.endsWith(".sqlite"));
    const before = await databases();
    for (const tenant of ["slack-C404", "slack-D404", "web-nobody", "steward", ""]) {
      const headers = { authorization: "Bearer none", cookie: `steward-chat=${tenant}` };
      for (const route of [
        `/broker/tenant/${tenant}/slack/auth.test`,
        `/readyz?chat=${tenant}`,
        `/_admin/?chat=${tenant}`,
        `/debug/ledger?chat=${tenant}`,
        `/stack/backups?chat=${tenant}`,
      ]) {
        const method = route.startsWith("/broker") ? "POST" : "GET";
        await (await world.request(route, { method, headers, redirect: "manual" })).body?.cancel();
      }
    }
    // That of the deployment answers readiness.
    expect((await databases()).length - before.length).toBeLessThanOrEqual(1);
  });

  test("cannot be used to lift the limits of strangers", async () => {
    const visit = async (): Promise<number> => (await world.request("/chat/files/a")).status;
    const visits = (count: number): Promise<number[]> => Promise.all(Array.from({ length: count }, visit));
    let statuses: number[] = [];
    // Side by side: one after the other they may be slower than the limit forgets.
    for (let round = 0; round < 20 && !statuses.includes(429); round += 1) statuses = await visits(100);
    expect(statuses).toContain(429);
    const choose = async (_: unknown, chat: number): Promise<number> =>
      (await world.request(`/_admin/?chat=slack-C${chat}`, { redirect: "manual" })).status;
    const chosen = await Promise.all(Array.from({ length: 120 }, choose));
    expect(new Set(chosen)).toEqual(new Set([403]));
    // A few more may have become allowed meanwhile.
    const later = await visits(150);
    expect(later.filter((one) => one !== 429).length).toBeLessThan(75);
  });

  test.each(["slack-D9", "slack-C404", "web-nobody", "telegram--1001"])(
    "has no container when an operator chooses %s",
    async (tenant) => {
      const about = `chat=${tenant}`;
      const page = await world.ask(`/_admin/?${about}`, { headers: PAGE });
      expect(page.status).toBe(200);
      expect(await world.cli("sessions list", tenant)).toContain("tenant_unknown");
      expect(await world.cli("workspace write a.md none -- a", tenant)).toContain("tenant_unknown");
      expect(await world.cli("backup create", tenant)).toContain("The chat has not been admitted");
      const change = { method: "POST", headers: { ...FORM, "sec-fetch-site": "same-origin" } };
      const restarted = await world.ask(`/_admin/restart?${about}`, change);
      const woken = await world.ask(`/_admin/wake?${about}`, { ...change, body: "page=/_admin/" });
      const made = await world.ask(`/_admin/backups/create?${about}`, { ...change, body: "force=no" });
      for (const answer of [restarted, woken, made])
        expect([answer.url, answer.status, answer.headers.get("location")]).toEqual([
          answer.url,
          303,
          expect.stringContaining("problem=tenant_unknown"),
        ]);
      expect(await world.containers()).toBe(0);
      expect(await keys()).toEqual([]);
    },
  );

  test.each(["steward", "slack", "slack-../x", "../slack-C1", "slack-C1/../steward", "slack-C 1"])(
    "an id that is none is refused, and does not stand for the deployment: %s",
    async (id) => {
      const about = `chat=${encodeURIComponent(id)}`;
      for (const route of ["/_admin/", "/debug/cli?cmd=sessions%20list", "/debug/ledger"]) {
        const address = `${route}${route.includes("?") ? "&" : "?"}${about}`;
        const answer = await world.ask(address, { headers: PAGE });
        expect([address, answer.status]).toEqual([address, 404]);
      }
      expect(await world.containers()).toBe(0);
      expect(await keys()).toEqual([]);
    },
  );
});
