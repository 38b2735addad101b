import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { killGateways, signal, underKills } from "../support/kills.ts";
import { runs, startedAs } from "../support/measure.ts";
import { generator } from "../support/random.ts";
import { byChat, said } from "../support/tenants.ts";

/** About 50 messages in each chat. */
const PLAN = { kills: 12, longestLifeMs: 4_000, mostEvents: 133, chats: 16 };
const SOON = { timeout: 60_000 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const GATEWAY = ["gateway/main.js"];
/** With its main process a container goes, and all that it knew. */
const CONTAINER = ["supervisor/main.js"];
const MACHINE = ["bin/workerd", ...CONTAINER, ...GATEWAY];

test(
  `16 chats lose no message while their gateways, their containers and workerd are killed (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const worker = await byChat({ MAX_SANDBOXES: String(PLAN.chats) });
    onTestFinished(() => worker.stop());
    let url = await worker.origin();
    let kills = 0;
    let names: string[] = [];
    let supervisors: number[] = [];
    const { events, repeated, ...aftermath } = await underKills(
      {
        url: () => url,
        slack: worker.slack,
        operator: worker.operator,
        tenants: Array.from({ length: PLAN.chats }, (_, chat) => `slack-C${chat}`),
        async kill(random) {
          names = [GATEWAY, CONTAINER, MACHINE][kills % 3] ?? [];
          kills += 1;
          if (names === MACHINE) {
            signal(
              MACHINE.flatMap((name) => startedAs(process.pid, name)),
              "SIGKILL",
            );
            return worker.halt();
          }
          // Half of the containers at a time: the other chats have nothing to do with it.
          supervisors = CONTAINER.flatMap((name) => startedAs(process.pid, name)).filter(
            () => random() < 0.5,
          );
          await killGateways(supervisors);
        },
        async revive() {
          if (names === MACHINE) await worker.resume();
          else signal(supervisors, names === CONTAINER ? "SIGKILL" : "SIGCONT");
          url = await worker.origin();
        },
      },
      { ...PLAN, seed: SEED },
    );
    process.stdout.write(
      `${events} events in ${PLAN.chats} chats, ${PLAN.kills} kills, ${repeated} repeated\n`,
    );
    expect(repeated).toBeLessThanOrEqual(PLAN.kills * PLAN.chats);
    expect(aftermath).toMatchObject({ lost: [], open: [], twiceInALife: [] });
  },
);

test(
  `an update reaches every chat although its waves are killed, and no message is lost (KILL_SEED=${SEED})`,
  { timeout: 300_000 },
  async () => {
    const { postSlack, read, deploy, resume, halt, tenantsWith, stop } = await byChat();
    onTestFinished(() => stop());
    const random = generator(SEED);
    const chats = Array.from({ length: 6 }, (_, index) => `C${index}`);
    const sent: { chat: string; text: string }[] = [];
    const send = async (chat: string): Promise<void> => {
      const text = `<${sent.length}>`;
      const event = said(chat, "U1", text);
      sent.push({ chat, text: `&lt;${sent.length}&gt;` });
      for (let status = 0; status !== 200; await sleep(status === 200 ? 0 : 500))
        status = await postSlack(event).then(
          (response) => response.status,
          () => 0,
        );
    };
    const unanswered = () =>
      sent.filter(({ chat, text }) => !read(chat).some((answer) => answer.includes(text)));
    for (const chat of chats) await send(chat);
    await expect.poll(unanswered, SOON).toEqual([]);

    const next = { STEWARD_OWN_VARIABLES: "PROOF", PROOF: "one" };
    await deploy(next);
    for (let kill = 0; kill < 9; kill += 1) {
      const sending = chats.map(send);
      await sleep(random() * 4_000);
      const [names = []] = [GATEWAY, CONTAINER, MACHINE].slice(kill % 3);
      const hit = names.flatMap((name) => startedAs(process.pid, name));
      const one = hit[Math.floor(random() * hit.length)];
      for (const pid of names === MACHINE ? hit : [one ?? 0]) if (runs(pid)) process.kill(pid, "SIGKILL");
      if (names === MACHINE) {
        await halt();
        await resume(next);
      }
      await Promise.all(sending);
    }

    const renewed = async (): Promise<string[]> => {
      await Promise.all(chats.map(send));
      return tenantsWith("PROOF", "one");
    };
    await expect
      .poll(renewed, { timeout: 150_000, interval: 5_000 })
      .toEqual(chats.map((chat) => `slack-${chat}`));
    await expect.poll(unanswered, SOON).toEqual([]);
  },
);
