import { expect, test } from "vitest";
import { ScheduledStarts } from "../../../runtime/host/tenants/scheduled-starts.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

function starts() {
  const world = { mark: "one", now: 0, found: ["slack-C1", "slack-C2"], begun: [] as string[], failing: "" };
  const values = new Map<string, string>();
  const make = () =>
    new ScheduledStarts({
      mark: () => world.mark,
      notes: (tenant) => ({
        read: (name) => values.get(`${tenant} ${name}`),
        write: (name, value) => void values.set(`${tenant} ${name}`, value),
      }),
      find: async () => world.found,
      begin: async (tenant) => {
        if (tenant === world.failing) throw new Error("no room");
        world.begun.push(tenant);
      },
      clock: () => world.now,
      log,
    });
  return { world, make };
}

test("each chat with a schedule is started once, in all processes", async () => {
  const { world, make } = starts();
  const one = make();
  await Promise.all([one.run(), one.run()]);
  await one.run();
  await make().run();
  expect(world.begun).toEqual(["slack-C1", "slack-C2"]);
});

test("a chat that does not start is tried again, and the others are not", async () => {
  const { world, make } = starts();
  const one = make();
  world.failing = "slack-C1";
  await one.run();
  expect(world.begun).toEqual(["slack-C2"]);
  world.failing = "";
  await one.run();
  expect(world.begun).toEqual(["slack-C2"]);
  world.now = 3_600_000;
  await one.run();
  expect(world.begun).toEqual(["slack-C2", "slack-C1"]);
});

test("after a change of the config or the tenancy all are started again", async () => {
  const { world, make } = starts();
  const one = make();
  await one.run();
  world.mark = "two";
  world.found = ["slack-C3"];
  await one.run();
  expect(world.begun).toEqual(["slack-C1", "slack-C2", "slack-C3"]);
});
