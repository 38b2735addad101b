import { expect, onTestFinished, test } from "vitest";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { killGateways, signal, underKills } from "../support/kills.ts";
import { startedAs } from "../support/measure.ts";
import { persistentFetch } from "../support/persistent-fetch.ts";
import { answersState } from "../support/ready.ts";
import { startWorker } from "../support/worker.ts";

const PLAN = { kills: 24, longestLifeMs: 800, mostEvents: 60, chats: 12 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
/** With its main process a container goes, and all that it knew. */
const CONTAINER = "supervisor/main.js";
const MACHINE = ["bin/workerd", CONTAINER, "gateway/main.js"];
const TARGETS = ["gateway", "container", "machine"] as const;

test(
  `the Worker loses no event while its gateway, its container and workerd are killed (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const worker = await startWorker(variables);
    onTestFinished(() => worker.stop());
    let url = await worker.origin();
    let kills = 0;
    let target: (typeof TARGETS)[number] = "gateway";
    let supervisors: number[] = [];
    const aftermath = await underKills(
      {
        url: () => url,
        slack: worker.slack,
        operator: headers,
        async kill() {
          target = TARGETS[kills % 3] ?? "machine";
          kills += 1;
          if (target === "machine") {
            signal(
              MACHINE.flatMap((name) => startedAs(process.pid, name)),
              "SIGKILL",
            );
            return worker.halt();
          }
          supervisors = startedAs(process.pid, CONTAINER);
          await killGateways(supervisors);
          if (target === "container") signal(supervisors, "SIGKILL");
        },
        async revive() {
          if (target === "machine") await worker.resume();
          else signal(supervisors, "SIGCONT");
          url = await worker.origin();
          // Strangers may wake it a few times an hour only, and perhaps no event waits.
          await persistentFetch(`${url}${ROUTES.admin.path}`, {
            headers: { ...headers, accept: "text/html" },
          });
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
