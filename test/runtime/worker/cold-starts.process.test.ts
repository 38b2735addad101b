import { expect, test } from "vitest";
import type { SandboxStatus } from "../../../runtime/contract/control.ts";
import { sandboxObjects } from "../../support/sandbox-object.ts";

const ended = ({ coldStarts = [] }: SandboxStatus) => coldStarts.map((one) => one.ended);

test("the container's last starts are kept, asleep and awake, each once", async () => {
  const { one } = await sandboxObjects();
  await one.do("wake");
  await one.do("end");
  const asleep = await one.do<SandboxStatus>("status");
  expect(ended(asleep)).toEqual(["ready"]);
  expect(asleep.coldStartMs).toBe(asleep.coldStarts?.[0]?.ms);
  expect(asleep).not.toHaveProperty("start");
  await one.do("wake");
  await one.do("wake");
  await one.do("skip", 2_000);
  expect(ended(await one.do("status"))).toEqual(["ready", "ready"]);
});

test("a start whose state does not come is measured from the container's start, and kept with its cause", async () => {
  const { one } = await sandboxObjects();
  await one.do("fail", { bucket: ["list"] });
  await one.do("wake");
  const under = await one.do<SandboxStatus>("status");
  expect(under).toMatchObject({ state: "starting", start: { at: under.since, phase: "restoring" } });
  await one.do("skip", 121_000);
  await expect.poll(() => one.do("status"), { timeout: 30_000 }).toMatchObject({ state: "stopped" });
  await expect.poll(async () => ended(await one.do("status"))).toEqual(["restore_failed"]);
});
