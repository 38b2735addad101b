import { afterEach, beforeEach, expect, test } from "vitest";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ACCOUNT, BUNDLE, deployAll, release, SCRIPT } from "./support.ts";

let world: ServerlessStage;
/** The version that was there, and the one that takes over by and by. */
let former: string;
let next: string;

beforeEach(async () => {
  world = await startServerlessStage();
  const { client } = world.stage;
  const { workerId, versionId } = await deployAll(client);
  former = versionId;
  next = await release(client, workerId, BUNDLE.replace('"version one"', '"version two"'));
});

afterEach(() => world.close());

function share(percentage: number) {
  return world.stage.client.workers.scripts.deployments.create(SCRIPT, {
    account_id: ACCOUNT,
    strategy: "percentage",
    versions: [
      { version_id: former, percentage: 100 - percentage },
      { version_id: next, percentage },
    ],
  });
}

async function answer(path = "/"): Promise<string> {
  return (await fetch(`${world.front.url}${path}`)).text();
}

async function answers(count: number): Promise<Set<string>> {
  return new Set(await Promise.all(Array.from({ length: count }, () => answer())));
}

test("two versions share the requests", async () => {
  await share(50);
  // That one of them gets all of a hundred has a chance of one in 2 to the 99.
  expect([...(await answers(100))].sort()).toEqual(["version one", "version two"]);
});

test("both versions reach the same Durable Object", async () => {
  await share(50);
  const visits = Array.from({ length: 40 }, (_, before) => before + 1);
  for (const visit of visits) expect(JSON.parse(await answer("/object/visit"))).toEqual({ visits: visit });
});

test("every request is answered while a version takes over, also one that was on its way to the former", async () => {
  const statuses = new Set<number>();
  const over = new AbortController();
  const asking = Array.from({ length: 20 }, async () => {
    // Whoever connects while workerd itself restarts is refused, and asks again.
    while (!over.signal.aborted)
      statuses.add(
        await fetch(world.front.url).then(
          ({ status }) => status,
          () => 502,
        ),
      );
  });
  for (const percentage of [50, 10, 90]) {
    await share(percentage);
    await world.stage.client.workers.scripts.deployments.create(SCRIPT, {
      account_id: ACCOUNT,
      strategy: "percentage",
      versions: [{ version_id: next, percentage: 100 }],
    });
  }
  over.abort();
  await Promise.all(asking);
  expect([...statuses].filter((status) => status !== 200 && status !== 502)).toEqual([]);
});
