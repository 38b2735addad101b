import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startModel } from "../runtime/support/platforms.ts";
import { hostByChat, rightsOf } from "../support/host-tenants.ts";
import { filesBelow, textOf } from "../support/leaks.ts";
import { noneOpen, said } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 300_000 };
const CHATS = ["C1", "C2", "D1"] as const;
type Chat = (typeof CHATS)[number];
/** Words that one chat alone has said, written or planned. */
const WORDS: Record<Chat, Record<"said" | "file" | "plan", string>> = {
  C1: { said: "apricot-4711", file: "bramble-4711", plan: "cicely-4711" },
  C2: { said: "quince-8022", file: "rowan-8022", plan: "sorrel-8022" },
  D1: { said: "medlar-3055", file: "hazel-3055", plan: "tansy-3055" },
};
const at = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A host with one gateway, by which three chats have talked, written a file and planned something. */
async function talked(variables: Record<string, string> = {}) {
  const model = await startModel();
  const host = await hostByChat({ TENANCY: "shared", ANTHROPIC_BASE_URL: model.url, ...variables });
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const { postSlack, read, cli, change } = host;
  const say = async (chat: Chat, text: string): Promise<void> => {
    await postSlack(said(chat, chat === "D1" ? "UANN" : "U1", text));
    await expect.poll(() => read(chat).join("\n"), SOON).toContain(`You said: ${text}`);
  };
  await change("pairing grant slack UANN person");
  await change('workspace write HOUSE.md none -- "rules of the house"');
  for (const chat of CHATS) {
    const words = WORDS[chat];
    await say(chat, words.said);
    expect(await cli(`workspace write chats/slack-${chat}/plan.md none -- "${words.file}"`)).toContain(
      "Wrote",
    );
    const planned = await cli(`schedules add --to slack:${chat} --at ${at(86_400_000)} --text ${words.plan}`);
    expect(planned).toContain("Added");
  }
  /** The conversation that the model was asked with when it read a text. */
  const askedWith = (text: string): string =>
    model
      .asked()
      .findLast((lines) => lines.at(-1)?.includes(text))
      ?.join("\n") ?? "";
  const foreign = (text: string, chat: Chat): string[] =>
    CHATS.filter((other) => other !== chat)
      .flatMap((other) => Object.values(WORDS[other]))
      .filter((word) => text.includes(word));
  /** Verifies that a chat's gateway has the chat's own words, and no other chat's. */
  const expectMoved = async (chat: Chat, next: string): Promise<void> => {
    await say(chat, next);
    const asked = askedWith(next);
    expect([chat, asked]).toEqual([chat, expect.stringContaining(WORDS[chat].said)]);
    expect(foreign(asked, chat)).toEqual([]);
    const tenant = `slack-${chat}`;
    expect(await cli(`workspace show chats/slack-${chat}/plan.md`, tenant)).toContain(WORDS[chat].file);
    expect(await cli("workspace show HOUSE.md", tenant)).toContain("rules of the house");
    expect(await cli("schedules list", tenant)).toContain(WORDS[chat].plan);
    const own = host.folder(tenant);
    const folder = (await filesBelow(own)).map(([name, content]) => name + textOf(content)).join("\n");
    expect(Object.values(WORDS[chat]).filter((word) => !folder.includes(word))).toEqual([]);
    expect([chat, foreign(folder, chat)]).toEqual([chat, []]);
    const { uid, mode } = await rightsOf(own);
    expect([uid >= 20_000, mode]).toEqual([true, 0o700]);
    const owners = (await readdir(own, { recursive: true })).map(async (name) =>
      stat(path.join(own, name)).then(
        (file) => file.uid,
        () => uid,
      ),
    );
    expect(new Set(await Promise.all(owners))).toEqual(new Set([uid]));
  };
  /** Switches the tenancy, as an update does. */
  const deploy = async (changed: Record<string, string>): Promise<void> => {
    await host.halt();
    await host.resume(changed);
    await host.inState("ready");
  };
  return { ...host, say, askedWith, expectMoved, deploy };
}

describe.runIf(process.getuid?.() === 0)("a host whose tenancy is switched", SLOW, () => {
  test("gives each chat its conversation, files and schedules, and no other's", async () => {
    const { cli, read, deploy, expectMoved, say, askedWith } = await talked();
    expect(await cli(`schedules add --to slack:C1 --at ${at(20_000)} --text due-once`)).toContain("Added");
    await deploy({ TENANCY: "chat" });
    for (const chat of CHATS) await expectMoved(chat, `and now, ${chat}?`);
    await expect.poll(() => read("C1").join("\n"), SOON).toContain("due-once");
    await say("C1", "and later?");
    expect(askedWith("and later?")).toContain("and now, C1?");
    expect(read("C1").filter((text) => text === "due-once")).toHaveLength(1);
    // Another start moves nothing again.
    await deploy({ TENANCY: "chat" });
    await say("C1", "after a restart");
    expect(askedWith("after a restart")).toMatch(/apricot-4711[^]*and later\?/);
  });

  test("has backups of each chat, and of what is the deployment's", async () => {
    const { ask, cli, deploy, say, askedWith, halt, resume, folder } = await talked();
    await deploy({ TENANCY: "chat" });
    await say("C1", "before the backup");
    await say("C2", "of the second chat");
    expect(await cli("backup create", "slack-C1")).toContain("00000001-00000001");
    await say("C1", "after the backup");
    expect(await cli("backup verify 00000001-00000001", "slack-C1")).toMatch(/verified|complete/i);
    expect(await cli("backup list", "slack-C2")).not.toContain("00000001-00000001");
    expect(await cli("backup list", "slack-C9")).not.toContain("00000001");

    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const restored = await ask("/_admin/backups/restore?chat=slack-C1", {
      method: "POST",
      headers: form,
      body: "id=00000001-00000001&config=current&typed=restore",
    });
    expect(restored.status).toBe(303);
    await say("C1", "since the restore");
    expect(askedWith("since the restore")).toContain("before the backup");
    expect(askedWith("since the restore")).not.toContain("after the backup");
    expect(await cli("backup list", "slack-C1")).toContain("00000001-00000002");

    const [, id = ""] = /(\d{8}-\d{8})/.exec(await cli("backup create")) ?? [];
    expect(await cli(`backup verify ${id}`)).toMatch(/verified|complete/i);
    // It copies the chats, too, for the way back.
    expect(await cli("backup list", "slack-C2")).toContain("00000001-00000001");

    // A later version has changed the schema of a chat's data, and this one is put back.
    await halt();
    const database = new DatabaseSync(path.join(folder("slack-C2"), "state.db"));
    database.exec("PRAGMA user_version = 999");
    database.close();
    await resume({ TENANCY: "chat" });
    await say("C2", "with the version before");
    expect(askedWith("with the version before")).toContain("of the second chat");
  });

  test("runs schedules of chats that have not written since", async () => {
    const { cli, read, deploy, running, home, writeConfig } = await talked();
    expect(await cli(`schedules add --to slack:C7 --at ${at(15_000)} --text due-unwritten`)).toContain(
      "Added",
    );
    await deploy({ TENANCY: "chat" });
    await expect.poll(() => read("C7").join("\n"), SOON).toBe("due-unwritten");
    expect(await running()).toContain("slack-C7");
    // A schedule that is new in the config needs no message either.
    const config = JSON.parse(await readFile(path.join(home, "steward.json"), "utf8"));
    const to = { platform: "slack", chat: "C8" };
    config.schedules = { report: { at: at(12_000), text: "due-in-config", to } };
    await writeConfig(config);
    await expect.poll(() => read("C8").join("\n"), SOON).toBe("due-in-config");
    expect(read("C7")).toHaveLength(1);
  });

  test("loses nothing if it is killed at any step of the move", async () => {
    const host = await talked();
    const { postSlack, read, halt, resume, expectMoved } = host;
    await halt();
    await resume({ TENANCY: "chat" });
    let waitMs = 60;
    for (const chat of CHATS) {
      await postSlack(said(chat, chat === "D1" ? "UANN" : "U1", `under kills ${chat}`));
      for (let round = 0; round < 4; round += 1) {
        await sleep((waitMs += 90));
        await halt("SIGKILL");
        await resume({ TENANCY: "chat" });
      }
      await expect.poll(() => read(chat).join("\n"), SOON).toContain(`You said: under kills ${chat}`);
      await noneOpen(host, `slack-${chat}`);
      await expectMoved(chat, `after the kills, ${chat}`);
    }
  });

  test("brings back what was said, written, planned and approved meanwhile", async () => {
    const { cli, change, postSlack, read, deploy, say, askedWith, expectMoved, running } = await talked();
    await deploy({ TENANCY: "chat" });
    for (const chat of CHATS) await expectMoved(chat, `meanwhile ${chat}`);
    await change('workspace write chats/slack-C1/new.md none -- "written meanwhile"', "slack-C1");
    expect(
      await cli(`schedules add --to slack:C2 --at ${at(20_000)} --text due-later`, "slack-C2"),
    ).toContain("Added");
    const [, dropped = ""] = /^(cli:\w+)/m.exec(await cli("schedules list", "slack-C1")) ?? [];
    expect(await cli(`schedules remove ${dropped}`, "slack-C1")).toContain("Removed");
    await change("pairing grant slack UBOB operator");
    await change("pairing revoke slack UANN");

    await deploy({ TENANCY: "shared" });
    await say("C1", "back again");
    expect(askedWith("back again")).toMatch(/apricot-4711[^]*meanwhile C1/);
    await say("C2", "and here");
    expect(askedWith("and here")).toMatch(/quince-8022[^]*meanwhile C2/);
    expect(await cli("workspace show chats/slack-C1/new.md")).toContain("written meanwhile");
    expect(await cli("pairing list")).toContain("Approved slack senders: UBOB (operator)");
    await postSlack(said("D1", "UANN", "still there?"));
    await expect.poll(() => read("D1").join("\n"), SOON).toContain("Your pairing code:");
    const plans = await cli("schedules list");
    expect(plans).not.toContain(WORDS.C1.plan);
    for (const plan of [WORDS.C2.plan, WORDS.D1.plan]) expect(plans).toContain(plan);
    await expect.poll(() => read("C2").join("\n"), SOON).toContain("due-later");
    expect(await running()).toEqual([]);

    // A second time: what was said to the one gateway is moved, and what was approved there counts.
    await change("pairing grant slack UCAT person");
    await deploy({ TENANCY: "chat" });
    await say("C1", "once more");
    expect(askedWith("once more")).toMatch(/apricot-4711[^]*meanwhile C1[^]*back again/);
    expect(await cli("pairing list")).toContain("Approved slack senders: UBOB (operator), UCAT");
    expect(read("C2").filter((text) => text === "due-later")).toHaveLength(1);
    await deploy({ TENANCY: "shared" });
    await say("C1", "and back");
    expect(askedWith("and back").match(/meanwhile C1/g)).toEqual(
      askedWith("once more").match(/meanwhile C1/g),
    );
    expect(askedWith("and back")).toMatch(/back again[^]*once more/);
  });

  test("loses nothing on the way back, although the service is killed", async () => {
    const { postSlack, read, halt, resume, request, output, expectMoved, askedWith, cli } = await talked();
    await halt();
    await resume({ TENANCY: "chat" });
    for (const chat of CHATS) await expectMoved(chat, `meanwhile ${chat}`);

    // The last words are in the chats' folders alone: the one gateway does not start without them.
    await halt("SIGKILL");
    await resume({ TENANCY: "shared" });
    await expect.poll(output, SOON).toContain("Not copied: slack-C1, slack-C2, slack-D1.");
    expect(await (await request("/")).text()).toContain("Some chats' data has not been backed up");
    expect((await request("/readyz")).status).toBe(503);
    await halt();
    await resume({ TENANCY: "chat" });
    // Its stop copies what is left.
    await halt();

    await resume({ TENANCY: "shared" });
    let waitMs = 20;
    for (const chat of ["C1", "C2"] as const) {
      await postSlack(said(chat, "U1", `back under kills ${chat}`));
      for (let round = 0; round < 5; round += 1) {
        await sleep((waitMs += 60));
        await halt("SIGKILL");
        await resume({ TENANCY: "shared" });
      }
      await expect.poll(() => read(chat).join("\n"), SOON).toContain(`You said: back under kills ${chat}`);
      const asked = askedWith(`back under kills ${chat}`);
      expect(asked).toMatch(new RegExp(`${WORDS[chat].said}[^]*meanwhile ${chat}`));
      expect(asked.split(`meanwhile ${chat}`)).toHaveLength(3);
    }
    for (const chat of CHATS) expect(await cli("schedules list")).toContain(WORDS[chat].plan);
  });
});
