import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startModel } from "../runtime/support/platforms.ts";
import { filesBelow, textOf } from "../support/leaks.ts";
import { runs, startedAs } from "../support/measure.ts";
import { byChat, noneOpen, said } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const SLOW = { timeout: 300_000 };
/** The alarm comes after up to 15 seconds, and failed starts are tried again after 10 and 20. */
const AFTER_KILLS = { timeout: 120_000 };
const CHATS = ["C1", "C2", "D1"] as const;
type Chat = (typeof CHATS)[number];
/** Words that one chat alone has said, written or planned. */
const WORDS: Record<Chat, Record<"said" | "file" | "plan", string>> = {
  C1: { said: "apricot-4711", file: "bramble-4711", plan: "cicely-4711" },
  C2: { said: "quince-8022", file: "rowan-8022", plan: "sorrel-8022" },
  D1: { said: "medlar-3055", file: "hazel-3055", plan: "tansy-3055" },
};

/** A deployment with one sandbox, in which three chats have talked, written a file and planned something. */
async function talked(variables: Record<string, string> = {}) {
  const model = await startModel();
  const world = await byChat({ TENANCY: "shared", ANTHROPIC_BASE_URL: model.url, ...variables });
  onTestFinished(() => world.stop());
  const { postSlack, read, cli, change } = world;
  const say = async (chat: Chat, text: string): Promise<void> => {
    await postSlack(said(chat, chat === "D1" ? "UANN" : "U1", text));
    await expect.poll(() => read(chat).join("\n"), SOON).toContain(`You said: ${text}`);
  };
  await change("pairing grant slack UANN person");
  await change('workspace write HOUSE.md none -- "rules of the house"');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const chat of CHATS) {
    const words = WORDS[chat];
    await say(chat, words.said);
    expect(await cli(`workspace write chats/slack-${chat}/plan.md none -- "${words.file}"`)).toContain(
      "Wrote",
    );
    expect(await cli(`schedules add --to slack:${chat} --at ${tomorrow} --text ${words.plan}`)).toContain(
      "Added",
    );
  }
  /** The conversation that the model was asked with when it read a text. */
  const askedWith = (text: string): string =>
    model
      .asked()
      .findLast((lines) => lines.at(-1)?.includes(text))
      ?.join("\n") ?? "";
  /** All that lies in the container of a chat. */
  const folderOf = async (chat: Chat): Promise<string> => {
    const environment = await world.supervisor(`slack-${chat}`);
    const files = await filesBelow(environment?.["STEWARD_HOME"] ?? "none");
    return files.map(([name, content]) => name + textOf(content)).join("\n");
  };
  const foreign = (text: string, chat: Chat): string[] =>
    CHATS.filter((other) => other !== chat)
      .flatMap((other) => Object.values(WORDS[other]))
      .filter((word) => text.includes(word));
  /** Verifies that a chat's sandbox has its own words, and no other chat's. */
  const expectMoved = async (chat: Chat, next: string): Promise<void> => {
    await say(chat, next);
    const asked = askedWith(next);
    expect([chat, asked]).toEqual([chat, expect.stringContaining(WORDS[chat].said)]);
    expect(foreign(asked, chat)).toEqual([]);
    const tenant = `slack-${chat}`;
    expect(await cli(`workspace show chats/slack-${chat}/plan.md`, tenant)).toContain(WORDS[chat].file);
    expect(await cli("workspace show HOUSE.md", tenant)).toContain("rules of the house");
    expect(await cli("schedules list", tenant)).toContain(WORDS[chat].plan);
    const folder = await folderOf(chat);
    expect(Object.values(WORDS[chat]).filter((word) => !folder.includes(word))).toEqual([]);
    expect([chat, foreign(folder, chat)]).toEqual([chat, []]);
  };
  return { ...world, say, askedWith, folderOf, expectMoved };
}

test("an update gives each chat its conversation, files and schedules, and no other's", SLOW, async () => {
  const { cli, postSlack, read, deploy, expectMoved, say, askedWith, withBucket } = await talked();
  const soon = new Date(Date.now() + 25_000).toISOString();
  expect(await cli(`schedules add --to slack:C1 --at ${soon} --text due-once`)).toContain("Added");
  await deploy({ TENANCY: "chat" });
  for (const chat of CHATS) await expectMoved(chat, `and now, ${chat}?`);
  await expect.poll(() => read("C1").join("\n"), SOON).toContain("due-once");
  await postSlack(said("C9", "U1", "first words"));
  await expect.poll(() => read("C9").join("\n"), SOON).toContain("You said: first words");
  expect(await cli("workspace show HOUSE.md", "slack-C9")).toContain("rules of the house");
  await say("C1", "and later?");
  expect(askedWith("and later?")).toContain("and now, C1?");
  expect(read("C1").filter((text) => text === "due-once")).toHaveLength(1);
  const marks = await withBucket(async (bucket) => (await bucket.list()).objects.map(({ key }) => key));
  for (const chat of CHATS) {
    expect(marks).toContain(`steward/tenants/slack-${chat}/tenant.json`);
    expect(marks).toContain(`steward/tenants/slack-${chat}/generations/00000001-00000000.json`);
  }
});

test("a schedule of before runs although nobody has written in its chat since", SLOW, async () => {
  const { cli, read, deploy, request, environments } = await talked();
  const soon = new Date(Date.now() + 30_000).toISOString();
  expect(await cli(`schedules add --to slack:C7 --at ${soon} --text due-unwritten`)).toContain("Added");
  await deploy({ TENANCY: "chat" });
  await request("/readyz");
  await expect.poll(() => read("C7").join("\n"), { timeout: 120_000 }).toContain("due-unwritten");
  expect(read("C7")).toHaveLength(1);
  expect(await environments("slack-C7")).not.toEqual([]);
});

test("an event that waits at the update is answered by its chat's own sandbox", SLOW, async () => {
  const { postSlack, read, deploy, counts, askedWith } = await talked();
  // Its gateway refuses the variable.
  await deploy({ TELEGRAM_DM_POLICY: "open" });
  await postSlack(said("C1", "U1", "still waiting"));
  await expect.poll(() => counts(""), SOON).toMatchObject({ waiting: 1 });
  await deploy({ TENANCY: "chat" });
  await expect.poll(() => read("C1").join("\n"), SOON).toContain("You said: still waiting");
  expect(askedWith("still waiting")).toContain(WORDS.C1.said);
  await expect.poll(() => counts("slack-C1"), SOON).toMatchObject({ waiting: 0, answered: 1 });
  await expect.poll(() => counts(""), SOON).toMatchObject({ waiting: 0, ignored: 1 });
});

test("a deployment that never had one sandbox starts none for a chat", SLOW, async () => {
  const world = await byChat();
  onTestFinished(() => world.stop());
  await world.postSlack(said("C1", "U1", "hello"));
  await expect.poll(() => world.read("C1").join(), SOON).toContain("hello");
  expect(await world.environments("rest")).toEqual([]);
});

test("the way back brings what was said, written and approved meanwhile", SLOW, async () => {
  const { cli, change, postSlack, read, deploy, say, askedWith, expectMoved, environments } = await talked();
  await deploy({ TENANCY: "chat" });
  for (const chat of CHATS) await expectMoved(chat, `meanwhile ${chat}`);
  await change('workspace write chats/slack-C1/new.md none -- "written meanwhile"', "slack-C1");
  const soon = new Date(Date.now() + 25_000).toISOString();
  expect(await cli(`schedules add --to slack:C2 --at ${soon} --text due-later`, "slack-C2")).toContain(
    "Added",
  );
  const [, dropped = ""] = /^(cli:\w+)/m.exec(await cli("schedules list", "slack-C1")) ?? [];
  expect(await cli(`schedules remove ${dropped}`, "slack-C1")).toContain("Removed");
  await change("pairing grant slack UBOB operator");
  await change("pairing revoke slack UANN");

  await deploy({ TENANCY: "shared" });
  await say("C1", "back again");
  expect(askedWith("back again")).toContain("meanwhile C1");
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
  for (const chat of CHATS) expect(await environments(`slack-${chat}`)).toEqual([]);

  // A second time: what was said in the one sandbox is moved, and what was approved there counts.
  await change("pairing grant slack UCAT person");
  await deploy({ TENANCY: "chat" });
  await say("C1", "once more");
  expect(askedWith("once more")).toMatch(/apricot-4711[^]*meanwhile C1[^]*back again/);
  expect(await cli("pairing list")).toContain("Approved slack senders: UBOB (operator), UCAT");
  expect(read("C2").filter((text) => text === "due-later")).toHaveLength(1);
});

test("kills at any step of the move lose nothing", { timeout: 600_000 }, async () => {
  const world = await talked();
  const { postSlack, read, deploy, halt, resume, expectMoved, cli, change, ask, askedWith } = world;
  await change("backup create");
  await deploy({ TENANCY: "chat" });
  const kill = (name: string): void => {
    for (const pid of startedAs(process.pid, name)) if (runs(pid)) process.kill(pid, "SIGKILL");
  };
  let waitMs = 150;
  for (const chat of CHATS) {
    await postSlack(said(chat, chat === "D1" ? "UANN" : "U1", `under kills ${chat}`));
    for (let round = 0; round < 4; round += 1) {
      await sleep((waitMs += 170));
      if (round % 2 === 0) {
        kill("bin/workerd");
        kill("supervisor/main.js");
        kill("gateway/main.js");
        await halt();
        await resume({ TENANCY: "chat" });
        // Local workerd wakes no object for an alarm of its last run; Cloudflare does.
        for (const tenant of ["", `slack-${chat}`]) await ask(`/_admin/?chat=${tenant}`);
      } else {
        kill("supervisor/main.js");
      }
    }
    await expect.poll(() => read(chat).join("\n"), AFTER_KILLS).toContain(`You said: under kills ${chat}`);
    await noneOpen(world, `slack-${chat}`);
    await expectMoved(chat, `after the kills, ${chat}`);
  }

  await deploy({ TENANCY: "shared" });
  for (const chat of ["C1", "C2"] as const) {
    await postSlack(said(chat, "U1", `back under kills ${chat}`));
    await sleep((waitMs = (waitMs * 7) % 1_300));
    kill("supervisor/main.js");
    await sleep((waitMs = (waitMs * 7) % 1_300));
    if (chat === "C1") kill("supervisor/main.js");
    await expect
      .poll(() => read(chat).join("\n"), AFTER_KILLS)
      .toContain(`You said: back under kills ${chat}`);
    expect(askedWith(`back under kills ${chat}`)).toContain(WORDS[chat].said);
  }
  // What the chats' containers had not backed up when they were killed is gone, as everywhere.
  expect(await cli("schedules list")).toContain(WORDS.D1.plan);
});
