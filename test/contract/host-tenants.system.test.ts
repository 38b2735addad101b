import { afterEach, describe, expect, test } from "vitest";
import { hostByChat, rightsOf } from "../support/host-tenants.ts";
import { said } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 180_000 };

let host: Awaited<ReturnType<typeof hostByChat>>;
async function byChat(environment?: Record<string, string>) {
  host = await hostByChat(environment);
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
    const { postSlack, read, cli, running, counts } = await byChat();
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

    await cli("pairing revoke slack UANN");
    await postSlack(said("D1", "UANN", "still there?"));
    await expect.poll(() => read("D1").filter((text) => text.includes("pairing code")).length, SOON).toBe(2);
    expect(read("D1").join("\n")).not.toContain("still there?");
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

  test("stops an idle gateway, and starts it with the chat's next message", async () => {
    const { postSlack, read, running, processes } = await byChat({ SANDBOX_SLEEP_AFTER: "3s" });
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

  test("a due schedule starts the gateway of its chat", async () => {
    const { postSlack, read, running, cli } = await byChat({ SANDBOX_SLEEP_AFTER: "2s" });
    await postSlack(said("C1", "U1", "hello"));
    await expect.poll(() => read("C1").join(), SOON).toContain("hello");
    const at = new Date(Date.now() + 30_000).toISOString();
    expect(await cli(`schedules add --to slack:C1 --at ${at} --text later-1`, "slack-C1")).toContain("Added");
    await expect.poll(running, SOON).toEqual([]);
    await expect.poll(() => read("C1").join(), SOON).toContain("later-1");
  });
});
