import { chown, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { startModel } from "../../rehearsal/standins/model.ts";
import { hostByChat, rightsOf } from "../support/host-tenants.ts";
import { said, strangersFlood } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 180_000 };

let host: Awaited<ReturnType<typeof hostByChat>>;
async function byChat(...options: Parameters<typeof hostByChat>) {
  host = await hostByChat(...options);
  await host.inState("ready");
  return host;
}
afterEach(() => host.stop());

describe.runIf(process.getuid?.() === 0)("a host on which each chat has a gateway of its own", SLOW, () => {
  test("gives each chat a process, a user and a folder of its own", async () => {
    const { postSlack, read, processes, running, folder } = await byChat();
    for (const chat of ["C1", "C2"]) await postSlack(said(chat, "U1", `hello ${chat}`));

    await expect
      .poll(() => [read("C1").join(), read("C2").join()].join("\n"), SOON)
      .toMatch(/hello C1[^]*hello C2/);
    expect(read("C1").join()).not.toContain("C2");
    expect(await running()).toEqual(["slack-C1", "slack-C2"]);
    const userOf = async (tenant: string) => new Set((await processes(tenant)).map(({ uid }) => uid));
    const users = [await userOf("slack-C1"), await userOf("slack-C2")].map((all) => [...all].join());
    expect(users.sort()).toEqual(["20000", "20001"]);
    for (const tenant of ["slack-C1", "slack-C2"]) {
      const { uid, mode } = await rightsOf(folder(tenant));
      expect([await userOf(tenant), mode]).toEqual([new Set([uid]), 0o700]);
    }
  });

  test("starts no process for a stranger, and answers it once an operator approves", async () => {
    const { postSlack, read, cli, change, running, counts } = await byChat();
    await postSlack(said("D1", "UANN", "may I?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("Your pairing code:");
    const code = /pairing code: (\w{8})/.exec(read("D1").join("\n"))?.[1] ?? "";

    expect(await cli("pairing list")).toContain(code);
    expect(await cli("cat credentials/slack-pairing.json")).toContain(code);
    expect(await cli(`pairing approve slack ${code}`)).toContain("Approved slack sender UANN.");
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("You are approved");
    expect(await running()).toEqual([]);

    await postSlack(said("D1", "UANN", "and now?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("and now?");
    expect(await running()).toEqual(["slack-D1"]);
    await expect.poll(() => counts("slack-D1"), SOON).toMatchObject({ answered: 1, ignored: 1 });

    await change("pairing revoke slack UANN");
    await postSlack(said("D1", "UANN", "still there?"));
    await expect.poll(() => read("D1").filter((text) => text.includes("pairing code")).length, SOON).toBe(2);
    expect(read("D1").join("\n")).not.toContain("still there?");
  });

  test("lets in who was let in while one gateway served all chats", async () => {
    const prepare = async (home: string): Promise<void> => {
      const folder = path.join(home, "credentials");
      await mkdir(folder, { mode: 0o700 });
      const file = path.join(folder, "slack-allowFrom.json");
      await writeFile(file, '{"version":1,"allowFrom":["UANN"]}', { mode: 0o600 });
      for (const one of [home, folder, file]) await chown(one, 10_001, 10_001);
    };
    const { postSlack, read, cli } = await byChat({}, { prepare });
    await postSlack(said("D1", "UANN", "and now?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("and now?");
    expect(await cli("pairing list")).toContain("Approved slack senders: UANN");
  });

  test("starts nothing for a stranger's flood, and answers it once in a while", async () => {
    const world = await byChat();
    const { read, running } = world;
    expect(await strangersFlood(world)).toEqual(new Set([200]));
    expect(await running()).toEqual([]);
    expect(read("D9").length).toBeGreaterThan(0);
    expect(read("D9").length).toBeLessThan(10);
  });

  test("stops the gateway that was used longest ago if another one finds no room", async () => {
    const { postSlack, read, running } = await byChat({ MAX_SANDBOXES: "2" });
    for (const chat of ["C1", "C2"]) {
      await postSlack(said(chat, "U1", `hello ${chat}`));
      await expect.poll(() => read(chat).join(), SOON).toContain(`hello ${chat}`);
    }
    await postSlack(said("C3", "U1", "hello C3"));
    await expect.poll(() => read("C3").join(), SOON).toContain("hello C3");
    expect(await running()).toEqual(["slack-C2", "slack-C3"]);

    // The first chat is answered again after its stop, by the same user.
    await postSlack(said("C1", "U1", "hello again"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello again");
    expect(read("C1")).toHaveLength(2);
    expect(await running()).toEqual(["slack-C1", "slack-C3"]);
  });

  test("starts the chat that has waited longest as soon as another one is done", async () => {
    const delays = { ms: 3_000 };
    const model = await startModel({
      hostname: "127.0.0.1",
      port: 0,
      apiKey: "sk-ant-test-0123456789abcdef",
      delayMs: () => delays.ms,
    });
    onTestFinished(() => model.close());
    const { postSlack, read, slack } = await byChat({ MAX_SANDBOXES: "1", ANTHROPIC_BASE_URL: model.url });
    const posted = Date.now();
    for (const chat of ["C1", "C2", "C3"]) {
      await postSlack(said(chat, "U1", `hello ${chat}`));
      await sleep(300);
    }
    const answersOf = () => slack.messages().filter(({ text }) => text.includes("hello"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello C1");
    const answered = Date.now();
    const startMs = answered - posted - delays.ms;
    delays.ms = 0;
    await expect
      .poll(() => answersOf().map(({ channel }) => channel), { timeout: 120_000 })
      .toEqual(["C1", "C2", "C3"]);
    expect(Date.now() - answered).toBeLessThan(8_000 + 4 * startMs);
  });

  test("stops an idle gateway, and starts it with the chat's next message", async () => {
    const { postSlack, read, running, processes } = await byChat({ SANDBOX_SLEEP_AFTER: "8s" });
    await postSlack(said("C1", "U1", "hello"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello");
    const [before] = await processes("slack-C1");
    await expect.poll(running, SOON).toEqual([]);
    await postSlack(said("C1", "U1", "anybody?"));
    await expect.poll(() => read("C1").join(), SOON).toContain("anybody?");
    expect((await processes("slack-C1"))[0]?.uid).toBe(before?.uid);
  });

  test("a gateway that is killed is restarted, and no other is disturbed", async () => {
    const { postSlack, read, processes } = await byChat();
    for (const chat of ["C1", "C2"]) {
      await postSlack(said(chat, "U1", `hello ${chat}`));
      await expect.poll(() => read(chat).join(), SOON).toContain(`hello ${chat}`);
    }
    const [one] = await processes("slack-C1");
    const other = await processes("slack-C2");
    process.kill(one?.pid ?? 0, "SIGKILL");
    await postSlack(said("C2", "U1", "and you?"));
    await expect.poll(() => read("C2").join(), SOON).toContain("and you?");
    await postSlack(said("C1", "U1", "still there?"));
    await expect.poll(() => read("C1").join(), SOON).toContain("still there?");
    expect((await processes("slack-C2")).map(({ pid }) => pid)).toEqual(other.map(({ pid }) => pid));
  });

  test("all chats read the deployment's config, and take a change over while they run", async () => {
    const { postSlack, read, cli, home, writeConfig } = await byChat();
    await postSlack(said("C1", "U1", "hello"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello");
    const config = JSON.parse(await readFile(path.join(home, "steward.json"), "utf8"));
    config.channels.slack.groupPolicy = "disabled";
    await writeConfig(config);
    await expect
      .poll(() => cli("config get channels.slack.groupPolicy", "slack-C1"), SOON)
      .toContain("disabled");
    await expect
      .poll(async () => {
        await postSlack(said("C1", "U1", "ignore me"));
        const { ignored } = await host.counts("slack-C1");
        return ignored;
      }, SOON)
      .toBeGreaterThan(0);
    await postSlack(said("C2", "U1", "and me"));
    await expect.poll(async () => (await host.counts("slack-C2")).ignored, SOON).toBe(1);
    expect(await host.running()).toEqual(["slack-C1"]);
  });

  test("a due schedule starts the gateway of its chat", async () => {
    const { postSlack, read, running, cli } = await byChat({ SANDBOX_SLEEP_AFTER: "2s" });
    await postSlack(said("C1", "U1", "hello"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello");
    const at = new Date(Date.now() + 30_000).toISOString();
    expect(await cli(`schedules add --to slack:C1 --at ${at} --text later-1`, "slack-C1")).toContain("Added");
    await expect.poll(running, SOON).toEqual([]);
    await expect.poll(() => read("C1").join(), SOON).toContain("later-1");
  });

  test("a schedule of a person whose access was taken away starts no gateway", async () => {
    const { postSlack, read, running, cli, change } = await byChat({ SANDBOX_SLEEP_AFTER: "2s" });
    await change("pairing grant slack UANN person");
    await postSlack(said("D1", "UANN", "hello"));
    await expect.poll(() => read("D1").join(), SOON).toContain("hello");
    const due = Date.now() + 20_000;
    const at = new Date(due).toISOString();
    expect(await cli(`schedules add --to slack:D1 --at ${at} --text later-1`, "slack-D1")).toContain("Added");
    await change("pairing revoke slack UANN");
    await expect.poll(running, SOON).toEqual([]);
    await sleep(Math.max(0, due - Date.now()) + 4_000);
    expect(await running()).toEqual([]);
    expect(read("D1").join()).not.toContain("later-1");
  });

  test("the console shows the chats, and each of them apart", async () => {
    const { postSlack, read, ask } = await byChat();
    for (const chat of ["C1", "C2"]) await postSlack(said(chat, "U1", `hello ${chat}`));
    await expect.poll(() => read("C1").length + read("C2").length, SOON).toBe(2);
    const page = async (route: string) => (await ask(route, { headers: { accept: "text/html" } })).text();
    const figures = async (route: string) => (await (await ask(route)).json()) as Record<string, unknown>;

    await expect
      .poll(() => figures("/_admin/api/metrics"), SOON)
      .toMatchObject({
        ledger: { answered: 2 },
        chats: { chats: 2, running: 2, failing: 0, counts: { answered: 2, waiting: 0 } },
      });
    expect(await (await ask("/metrics")).text()).toMatch(/^steward_chats\S* 2$/m);
    const chats = await page("/_admin/chats");
    for (const id of ["slack-C1", "slack-C2"]) expect(chats).toContain(`value="${id}"`);
    expect(chats).toContain("Awake");

    const own = await page("/_admin/?chat=slack-C1");
    expect(own).toContain("slack-C1");
    expect(await figures("/_admin/api/metrics?chat=slack-C1")).toMatchObject({ ledger: { answered: 1 } });
    const events = await page("/_admin/ledger?chat=slack-C1");
    expect(events).toContain("C1");
    expect(events).not.toContain("C2");

    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const chosen = await ask("/_admin/chats", { method: "POST", headers: form, body: "chat=slack-C2" });
    const cookie = (chosen.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect(cookie).toBe("steward-chat=slack-C2");
    const byCookie = await ask("/_admin/ledger", { headers: { accept: "text/html", cookie } });
    expect(await byCookie.text()).toMatch(/C2/);
    expect((await ask("/_admin/backups?chat=slack-C1", { headers: { accept: "text/html" } })).status).toBe(
      200,
    );
  });
});
