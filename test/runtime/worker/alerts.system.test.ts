import { expect, test } from "vitest";
import { sandboxObjects } from "../../support/sandbox-object.ts";
import { json, startScripted } from "../support/platforms.ts";

const MINUTE = 60_000;

test("a container that keeps crashing is told to the operator, and so is its recovery", async () => {
  const receiver = await startScripted(json(200, {}));
  const settings = { name: "test", webhook: `${receiver.url}/hook`, signingKey: "signing-key-0123456789" };
  const { one, bucket } = await sandboxObjects({ ALERTS: JSON.stringify(settings) });
  const told = () =>
    receiver.calls.flatMap(({ body }) => JSON.parse(body).alerts as { state: string; subject: string }[]);
  await one.do("wake");
  await one.do("call", "create", []);
  await one.do("write", { config: '{"broken":true}' });
  await one.do("skip", 2_000);
  expect(await one.do("status")).toMatchObject({ state: "crash-looping" });
  for (let minute = 0; minute < 8; minute += 1) await one.do("pass", MINUTE);
  await expect.poll(told, { timeout: 20_000 }).toMatchObject([{ state: "failing", subject: "gateway" }]);

  for (const key of await bucket.do<string[]>("list")) {
    if (!key.includes("generations")) await bucket.do("delete", key);
  }
  await one.do("restart");
  await one.do("wake");
  for (let minute = 0; minute < 3; minute += 1) await one.do("pass", MINUTE);
  await expect
    .poll(told, { timeout: 20_000 })
    .toMatchObject([{}, { state: "recovered", subject: "gateway" }]);
});
