import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { underKills } from "../support/kills.ts";
import { startedAs, runs } from "../support/measure.ts";
import { answersState } from "../support/ready.ts";
import { startWorker } from "../support/worker.ts";

/** Time in which the broker has sent what it had taken. */
const BROKER_MS = 250;
const PLAN = { kills: 24, longestLifeMs: 800, mostEvents: 60, chats: 12 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const GATEWAY = ["gateway/main.js"];
/** With its main process a container goes, and all that it knew. */
const CONTAINER = ["supervisor/main.js"];
const MACHINE = ["bin/workerd", ...CONTAINER, ...GATEWAY];

test(
  `the Worker loses no event while its gateway, its container and workerd are killed (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const worker = await startWorker(variables);
    onTestFinished(() => worker.stop());
    let url = await worker.origin();
    let kills = 0;
    let machineIsGone = false;
    const aftermath = await underKills(
      {
        url: () => url,
        slack: worker.slack,
        operator: headers,
        async kill() {
          const names = [GATEWAY, CONTAINER, MACHINE][kills % 3] ?? [];
          kills += 1;
          machineIsGone = names === MACHINE;
          const gateways = startedAs(process.pid, "gateway/main.js");
          for (const pid of names.flatMap((name) => startedAs(process.pid, name))) kill(pid);
          if (machineIsGone) await worker.halt();
          while (gateways.some(runs)) await sleep(5);
          // The broker still sends what a killed gateway had handed to it: that belongs to the life that has ended.
          await sleep(BROKER_MS);
        },
        async revive() {
          if (machineIsGone) await worker.resume();
          url = await worker.origin();
          // Strangers may wake it a few times an hour only, and perhaps no event waits.
          await fetch(`${url}${ROUTES.admin.path}`, { headers: { ...headers, accept: "text/html" } });
          await answersState(url, "ready");
        },
      },
      { ...PLAN, seed: SEED },
    );
    const { events, repeated } = aftermath;
    process.stdout.write(
      `${events} events, ${PLAN.kills} kills, ${repeated} messages repeated, ${aftermath.mostRepeatedOfAChat} of a chat and a life at most\n`,
    );
    // A new container does not know what the one before has answered: what was on its way is said again.
    expect(repeated).toBeLessThanOrEqual(PLAN.kills * PLAN.chats);
    expect(aftermath).toMatchObject({ lost: [], open: [], twiceInALife: [] });
  },
);

/** At once; one that went with another before it is gone already. */
function kill(pid: number): void {
  if (runs(pid)) process.kill(pid, "SIGKILL");
}
