import { afterEach, expect, test } from "vitest";
import { byChat as startByChat, said, strangersFlood } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});
async function byChat(variables?: Record<string, string>) {
  const service = await startByChat(variables);
  stop = service.stop;
  return service;
}

test(
  "each chat has a container of its own, with its backups below its own prefix",
  { timeout: 120_000 },
  async () => {
    const { postSlack, read, containers, withBucket } = await byChat();
    for (const chat of ["C1", "C2"])
      expect((await postSlack(said(chat, "U1", `hello ${chat}`))).status).toBe(200);

    await expect
      .poll(() => [read("C1").join(), read("C2").join()].join("\n"), SOON)
      .toMatch(/hello C1[^]*hello C2/);
    expect(await containers()).toBe(2);
    expect(read("C1").join()).not.toContain("C2");
    const keys = await withBucket(async (bucket) => (await bucket.list()).objects.map(({ key }) => key));
    expect(keys.filter((key) => !key.startsWith("steward/tenants/slack-C"))).toEqual([]);
  },
);

test(
  "a stranger costs no container, and is answered once an operator approves",
  { timeout: 120_000 },
  async () => {
    const { postSlack, read, cli, change, containers } = await byChat();
    await postSlack(said("D1", "UANN", "may I?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("Your pairing code:");
    const code = /pairing code: (\w{8})/.exec(read("D1").join("\n"))?.[1] ?? "";

    expect(await cli("pairing list")).toContain(code);
    expect(await cli("cat credentials/slack-pairing.json")).toContain(code);
    expect(await cli(`pairing approve slack ${code}`)).toContain("Approved slack sender UANN.");
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("You are approved");
    expect(await containers()).toBe(0);

    await postSlack(said("D1", "UANN", "and now?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("and now?");
    expect(await containers()).toBe(1);

    await change("pairing revoke slack UANN");
    await postSlack(said("D1", "UANN", "still there?"));
    await expect.poll(() => read("D1").filter((text) => text.includes("pairing code")).length, SOON).toBe(2);
    expect(read("D1").join("\n")).not.toContain("still there?");
  },
);

test("an operator who writes to the bot is told of a stranger, once", { timeout: 120_000 }, async () => {
  const { postSlack, read, change, containers } = await byChat();
  await postSlack(said("D2", "UOPS", "let me in"));
  await expect.poll(() => read("D2").join("\n"), SOON).toContain("Your pairing code:");
  await change("pairing grant slack UOPS operator");
  for (const text of ["may I?", "may I now?"]) await postSlack(said("D1", "UANN", text));
  await expect.poll(() => read("D1").length, SOON).toBeGreaterThan(0);
  const code = /pairing code: (\w{8})/.exec(read("D1").join("\n"))?.[1] ?? "none";
  await expect
    .poll(() => read("D2").join("\n"), SOON)
    .toContain(`UANN: steward pairing approve slack ${code}`);
  expect(read("D2").filter((text) => text.includes("UANN"))).toHaveLength(1);
  expect(await containers()).toBe(0);
});

test(
  "who was let in before the chats had sandboxes of their own is let in",
  { timeout: 120_000 },
  async () => {
    const { postSlack, read, cli, change, counts, deploy } = await byChat({ TENANCY: "shared" });
    await postSlack(said("D1", "UANN", "may I?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("Your pairing code:");
    await change(`pairing approve slack ${/pairing code: (\w{8})/.exec(read("D1").join("\n"))?.[1]}`);
    await change("pairing grant slack UBOB operator");
    await change("backup create");

    await deploy({ TENANCY: "chat" });
    await postSlack(said("D1", "UANN", "and now?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("and now?");
    expect(await cli("pairing list")).toContain("Approved slack senders: UANN, UBOB (operator)");
    await expect.poll(() => counts("slack-D1"), SOON).toMatchObject({ answered: 1, ignored: 0 });
  },
);

test("an event of no chat starts no container", { timeout: 60_000 }, async () => {
  const { postSlack, containers, counts } = await byChat();
  await postSlack({
    type: "event_callback",
    event_id: "EvJOIN",
    team_id: "T1",
    event: { type: "team_join", user: { id: "U7" } },
  });
  await expect.poll(() => counts(""), SOON).toMatchObject({ ignored: 1 });
  expect(await containers()).toBe(0);
});

test("a stranger's flood starts nothing, and is answered once in a while", { timeout: 120_000 }, async () => {
  const world = await byChat();
  const { read, containers } = world;
  expect(await strangersFlood(world)).toEqual(new Set([200]));
  expect(await containers()).toBe(0);
  expect(read("D9").length).toBeGreaterThan(0);
  expect(read("D9").length).toBeLessThan(10);
});

test(
  "a chat that finds no room waits until the one that was used longest ago sleeps",
  { timeout: 180_000 },
  async () => {
    const { postSlack, read, containers } = await byChat({ MAX_SANDBOXES: "2" });
    for (const chat of ["C1", "C2"]) {
      await postSlack(said(chat, "U1", `hello ${chat}`));
      await expect.poll(() => read(chat).join(), SOON).toContain(`hello ${chat}`);
    }
    await postSlack(said("C3", "U1", "hello C3"));
    await expect.poll(() => read("C3").join(), SOON).toContain("hello C3");
    expect(await containers()).toBe(2);

    // The first chat is answered again after its sleep.
    await postSlack(said("C1", "U1", "hello again"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello again");
    expect(read("C1")).toHaveLength(2);
  },
);

test("an update reaches the other chats once the canary answers", { timeout: 180_000 }, async () => {
  const { postSlack, read, deploy, tenantsWith } = await byChat({ CANARY_TENANTS: "slack-C1" });
  for (const chat of ["C1", "C2"]) {
    await postSlack(said(chat, "U1", `hello ${chat}`));
    await expect.poll(() => read(chat).join(), SOON).toContain(`hello ${chat}`);
  }
  // A canary that does not start keeps the others as they are: its gateway refuses the variable.
  await deploy({ STEWARD_OWN_VARIABLES: "PROOF", PROOF: "one", TELEGRAM_DM_POLICY: "open" });
  for (const chat of ["C1", "C2"]) await postSlack(said(chat, "U1", `still there, ${chat}?`));
  await expect.poll(() => read("C2").join(), SOON).toContain("still there, C2?");
  await expect.poll(() => tenantsWith("PROOF", "one"), SOON).toContain("slack-C1");
  expect(await tenantsWith("PROOF", "one")).not.toContain("slack-C2");

  await deploy({ STEWARD_OWN_VARIABLES: "PROOF", PROOF: "two" });
  for (const chat of ["C1", "C2"]) await postSlack(said(chat, "U1", `and now, ${chat}?`));
  await expect.poll(() => read("C1").join(), SOON).toContain("and now, C1?");
  await expect
    .poll(async () => {
      await postSlack(said("C2", "U1", "hello again"));
      return tenantsWith("PROOF", "two");
    }, SOON)
    .toEqual(["slack-C1", "slack-C2"]);
});

test(
  "a config that an operator saves reaches the chats' running containers, on any chat's page",
  { timeout: 120_000 },
  async () => {
    const { postSlack, read, cli, ask, supervisor, origin, inState } = await byChat();
    await postSlack(said("C1", "U1", "hello C1"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello C1");
    const before = await supervisor("slack-C1");
    await cli("status");
    // Its first start writes the config.
    await inState("ready");
    const page = await (await ask("/_admin/config/edit?chat=slack-C1")).text();
    const expected = /name="expected" value="(\w+)"/.exec(page)?.[1] ?? "";
    const text = JSON.stringify({ agent: { noticeAfter: "90s" }, channels: { slack: { enabled: true } } });

    const saved = await ask("/_admin/config/save?chat=slack-C1", {
      method: "POST",
      headers: { origin: await origin(), "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ text, expected }).toString(),
    });

    expect(saved.status).toBe(303);
    await expect.poll(() => cli("config get agent.noticeAfter", "slack-C1"), SOON).toContain("90s");
    expect(await supervisor("slack-C1")).toEqual(before);
  },
);

test(
  "a broken config in the bucket stops the chats that start, and no other; once mended it lets them start",
  { timeout: 300_000 },
  async () => {
    const { postSlack, read, withBucket, counts, ask } = await byChat();
    const put = (text: string) =>
      withBucket(async (bucket) => void (await bucket.put("steward/steward.json", text)));
    await put("{}");
    await postSlack(said("C1", "U1", "hello C1"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello C1");

    await put('{"agent": {"maxSteps": "many"}}');
    await postSlack(said("C2", "U1", "hello C2"));
    const status = async () => (await ask("/debug/processes?chat=slack-C2")).text();
    await expect.poll(status, { ...SOON, interval: 2_000 }).toContain("config_invalid");
    await postSlack(said("C1", "U1", "still there?"));
    await expect.poll(() => read("C1").join(), SOON).toContain("still there?");
    expect(await counts("slack-C2")).toMatchObject({ waiting: 1, answered: 0 });

    await put("{}");
    await postSlack(said("C2", "U1", "and now?"));
    // The start is tried again after 10, 20 and 40 seconds.
    await expect.poll(() => read("C2").join(), { timeout: 120_000 }).toMatch(/hello C2[^]*and now\?/);
  },
);

test(
  "a chat whose backups are broken waits and says so, the others are answered; nothing begins empty",
  { timeout: 240_000 },
  async () => {
    const { postSlack, read, withBucket, ask, cli, endContainer, counts } = await byChat();
    await postSlack(said("C1", "U1", "remember me"));
    await expect.poll(() => read("C1").join(), SOON).toContain("remember me");
    expect(await cli("backup create", "slack-C1")).toContain("was created");
    const prefix = "steward/tenants/slack-C1/generations/";
    const kept = new Map<string, string>();
    await withBucket(async (bucket) => {
      for (const { key } of (await bucket.list({ prefix })).objects.filter((one) =>
        one.key.endsWith(".json"),
      )) {
        kept.set(key, (await (await bucket.get(key))?.text()) ?? "");
        await bucket.put(key, "{");
      }
    });
    expect(kept.size).toBeGreaterThan(0);
    await endContainer();

    for (const chat of ["C1", "C2"]) await postSlack(said(chat, "U1", `hello ${chat}`));
    await expect.poll(() => read("C2").join(), SOON).toContain("hello C2");
    const status = async () => (await ask("/debug/processes?chat=slack-C1")).text();
    await expect.poll(status, { ...SOON, interval: 2_000 }).toMatch(/restore_failed.*No backup is intact/);
    expect(await counts("slack-C1")).toMatchObject({ waiting: 1 });

    await withBucket(async (bucket) => {
      for (const [key, text] of kept) await bucket.put(key, text);
    });
    await expect.poll(() => read("C1").join(), { timeout: 120_000 }).toContain("hello C1");
    expect(await cli("sessions list", "slack-C1")).toContain("C1");
  },
);
