import { expect, onTestFinished, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { engine } from "../support/docker.ts";
import { underKills } from "../support/kills.ts";
import { answersState } from "../support/ready.ts";
import { startContainer } from "../support/targets/container.ts";

const PLAN = { kills: 12, longestLifeMs: 1_500, mostEvents: 130, chats: 12 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

test.skipIf(!engine.ok)(
  `the host's container loses no event when Docker kills it (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const { name, url, settings, platforms, stop } = await startContainer();
    onTestFinished(stop);
    await answersState(url, "ready");
    const aftermath = await underKills(
      {
        url: () => url,
        slack: platforms.slack,
        operator: { authorization: `Bearer ${settings.secrets.adminToken}` },
        kill: async () => void (await docker(["kill", name])),
        async revive() {
          await docker(["start", name]);
          await answersState(url, "ready");
        },
      },
      { ...PLAN, seed: SEED },
    );
    const { events, repeated } = aftermath;
    process.stdout.write(
      `${events} events, ${PLAN.kills} kills, ${repeated} messages repeated, ${aftermath.mostRepeatedOfAChat} of a chat and a life at most\n`,
    );
    // A kill between a send and its record repeats that message, one of every chat that is at work then, at
    // whatever time it comes again; a life that nobody ends says nothing twice.
    expect(aftermath).toMatchObject({ lost: [], open: [], twiceInALife: [] });
    expect(aftermath.mostRepeatedOfAChat).toBeLessThanOrEqual(1);
  },
);
