import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostByChat, rightsOf } from "../support/host-tenants.ts";
import { filesBelow, leaks, textOf } from "../support/leaks.ts";
import { said } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 120_000 };
const WORDS = { C1: "apricot-4711", C2: "quince-8022" } as const;
const CHATS = ["C1", "C2"] as const;
type Chat = (typeof CHATS)[number];
const LONGEST_PART = 64 * 1024 * 1024;
const OTHER_CHAT = { status: 403, code: "broker_other_chat" };
const REFUSED = { status: 403, code: "broker_refused" };

/** Runs a shell line as a user of the machine. */
function asUser(uid: number, line: string): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", line], { uid, gid: uid, encoding: "utf8" });
  return { status, text: stdout + stderr };
}

/** Texts of the form of a pass in the memory of a process. */
function passesIn(pid: number): string[] {
  const maps = readFileSync(`/proc/${pid}/maps`, "utf8").split("\n");
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const found = new Set<string>();
  for (const line of maps) {
    const [, from = "", to = ""] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    const size = Number.parseInt(to, 16) - Number.parseInt(from, 16);
    if (!(size > 0 && size <= LONGEST_PART)) continue;
    const part = Buffer.alloc(size);
    try {
      readSync(memory, part, 0, size, Number.parseInt(from, 16));
    } catch {
      // Some of a process's memory cannot be read.
      continue;
    }
    for (const [text] of part.toString("latin1").matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g))
      found.add(text);
  }
  closeSync(memory);
  return [...found];
}

describe.runIf(process.getuid?.() === 0)("two chats of a host whose gateways run", SLOW, () => {
  let host: Awaited<ReturnType<typeof hostByChat>>;
  const users = { C1: 0, C2: 0 };
  const pids = { C1: 0, C2: 0 };

  beforeAll(async () => {
    host = await hostByChat({ SANDBOX_SLEEP_AFTER: "1h" });
    await host.inState("ready");
    for (const chat of CHATS) {
      await host.postSlack(said(chat, "U1", WORDS[chat]));
      await host.slack.waitFor(
        ({ channel, text }) => channel === chat && text.includes(WORDS[chat]),
        SOON.timeout,
      );
      const [first] = await host.processes(`slack-${chat}`);
      users[chat] = first?.uid ?? 0;
      pids[chat] = first?.pid ?? 0;
    }
  }, 120_000);
  afterAll(() => host.stop());

  const call = async (chat: Chat, pass: string, operation: string, fields: Record<string, string> = {}) => {
    const answer = await host.request(`/broker/tenant/slack-${chat}/slack/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${pass}` },
      body: new URLSearchParams(fields).toString(),
    });
    const { code } = (await answer.json()) as { code?: string };
    return { status: answer.status, code };
  };
  const passOf = async (chat: Chat): Promise<string> => {
    for (const text of passesIn(pids[chat])) {
      if ((await call(chat, text, "auth.test")).status === 200) return text;
    }
    throw new Error(`no pass of ${chat} was found`);
  };

  test("a gateway reads no file of another, and none of the deployment's", async () => {
    const other = host.folder("slack-C2");
    const inHome = await readdir(host.home);
    const files = [
      other,
      path.join(other, "state.db"),
      path.join(host.home, "tenants"),
      host.home,
      path.join(host.home, "logs/tenants/slack-C1/gateway.log"),
      ...inHome.filter((name) => name !== "tenants").map((name) => path.join(host.home, name)),
    ];
    expect(inHome).toEqual(expect.arrayContaining(["state.db", "steward.json", "logs"]));
    for (const file of files) {
      const command = `if [ -d ${file} ]; then ls ${file}; else cat ${file}; fi`;
      expect([file, asUser(users.C1, command).text]).toEqual([
        file,
        expect.stringContaining("Permission denied"),
      ]);
      expect([file, asUser(users.C1, `touch ${file}/x || echo x >>${file}`).status]).toEqual([file, 2]);
    }
    // The search finds what is there.
    expect(asUser(users.C1, `ls ${host.folder("slack-C1")}`).text).toContain("state.db");
    expect(asUser(users.C1, `cat ${path.join(host.home, "tenants/steward.json")}`).text).toContain(
      "channels",
    );
    expect(asUser(users.C1, `echo x >>${path.join(host.home, "tenants/steward.json")}`).status).not.toBe(0);
  });

  test("a gateway sees nothing of another's process, and cannot end it", async () => {
    const processes = [pids.C2, host.pid, await host.gatewayPid()];
    for (const pid of processes) {
      for (const file of ["environ", "mem", "maps", "cwd/x", "fd/3"])
        expect([pid, file, asUser(users.C1, `cat /proc/${pid}/${file}`).text]).toEqual([
          pid,
          file,
          expect.stringContaining("Permission denied"),
        ]);
      expect([pid, asUser(users.C1, `kill -0 ${pid}`).status]).not.toEqual([pid, 0]);
    }
    expect(asUser(users.C1, `kill -0 ${pids.C1}`).status).toBe(0);
  });

  test("no process of a chat has a right of root, or can get one", () => {
    for (const chat of CHATS) {
      const status = readFileSync(`/proc/${pids[chat]}/status`, "utf8");
      const uid = users[chat];
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, "m"));
      expect(status).toMatch(new RegExp(`^Gid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, "m"));
      expect(status).toMatch(/^Groups:\s*$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
        expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, "m"));
    }
  });

  test("the deployment's own gateway and the supervisor run as its ordinary user", async () => {
    const { uid } = await rightsOf(host.home);
    expect(uid).toBe(10_001);
    const gateway = readFileSync(`/proc/${await host.gatewayPid()}/status`, "utf8");
    expect(gateway).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    expect(gateway).toMatch(/^CapPrm:\s+0{16}$/m);
    const supervisor = readFileSync(`/proc/${host.pid}/status`, "utf8");
    expect(supervisor).toMatch(/^Uid:\s+0\s+10001\s+0\s+10001$/m);
    expect(supervisor).toMatch(/^CapEff:\s+0{16}$/m);
  });

  test("a pass opens its own chat's path, and writes to its own chat alone", async () => {
    const [one, two] = [await passOf("C1"), await passOf("C2")];
    expect(one).not.toBe(two);
    expect(await call("C2", one, "auth.test")).toEqual(REFUSED);
    expect(await call("C1", two, "auth.test")).toEqual(REFUSED);
    const written = host.slack.messages().length;
    const to = (channel: string) => ({
      channel,
      text: "from the neighbour",
      unfurl_links: "false",
      unfurl_media: "false",
    });
    expect(await call("C1", one, "chat.postMessage", to("C2"))).toEqual(OTHER_CHAT);
    expect(await call("C1", one, "chat.postMessage", to("@U1"))).toEqual(OTHER_CHAT);
    expect(host.slack.messages()).toHaveLength(written);
    expect((await call("C1", one, "chat.postMessage", to("C1"))).status).toBe(200);
    // The deployment's path takes no chat's pass.
    const headers = { authorization: `Bearer ${one}` };
    const answer = await host.request("/broker/slack/auth.test", { method: "POST", headers });
    expect(answer.status).toBe(403);
  });

  test("no key of the deployment is in the environment of a chat's processes", async () => {
    for (const chat of CHATS) {
      const seen = JSON.stringify(await host.processes(`slack-${chat}`));
      expect(Object.values(host.secrets).filter((key) => leaks(seen, key))).toEqual([]);
    }
  });

  test("what one chat says is in no other's folder, pages or answers", async () => {
    const files = await filesBelow(path.join(host.home, "tenants"));
    for (const [chat, other] of [CHATS, CHATS.toReversed()] as [Chat, Chat][]) {
      const tenant = `slack-${chat}`;
      const own = files.filter(([name]) => name.startsWith(`${host.folder(tenant)}/`));
      const folder = own.map(([name, content]) => name + textOf(content)).join("\n");
      const routes = [
        "/debug/ledger",
        "/debug/logs",
        "/_admin/",
        "/_admin/sessions",
        "/debug/processes?logs=true",
      ];
      const pages = await Promise.all(
        routes.map(async (route) =>
          (await host.ask(`${route}${route.includes("?") ? "&" : "?"}chat=${tenant}`)).text(),
        ),
      );
      const answers = await host.cli("sessions list", tenant);
      for (const text of [folder, pages.join("\n"), answers]) expect(text).not.toContain(WORDS[other]);
      expect(pages[0]).toContain(`${chat}`);
      expect(pages[0]).not.toContain(`:${other}`);
      expect(folder).toContain(WORDS[chat]);
    }
  });
});

describe.runIf(process.getuid?.() === 0)("a chat of a host that was never let in", SLOW, () => {
  test("has no process when an operator chooses it", async () => {
    const host = await hostByChat();
    try {
      await host.inState("ready");
      await host.postSlack(said("D9", "UANN", "may I?"));
      await expect.poll(() => host.read("D9").join(), SOON).toContain("Your pairing code:");
      for (const tenant of ["slack-D9", "slack-C404", "web-nobody"]) {
        expect((await host.ask(`/_admin/?chat=${tenant}`, { headers: { accept: "text/html" } })).status).toBe(
          200,
        );
        expect(await host.cli("sessions list", tenant)).toContain("tenant_unknown");
        const answer = await host.ask(`/_admin/restart?chat=${tenant}`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
        });
        expect(answer.headers.get("location")).toContain("problem=tenant_unknown");
      }
      expect((await host.ask("/_admin/?chat=steward")).status).toBe(404);
      expect(await host.running()).toEqual([]);
    } finally {
      await host.stop();
    }
  });
});
