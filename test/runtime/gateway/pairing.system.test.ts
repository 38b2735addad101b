import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steward } from "../support/cli.ts";
import { deliver, delivery, directMessage, startGateway, surroundings } from "../support/gateway.ts";
import { pairingStore, storeFile } from "../support/pairing.ts";
import { json } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";

/** The code that a person was told. */
function codeIn(text: string | null | undefined): string {
  return /steward pairing approve slack ([A-Z]{8})$/m.exec(text ?? "")?.[1] ?? "no code";
}

test("an unknown sender gets its id, its code and the command; once approved it is told, and answered", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  const gateway = await startGateway(environment);

  expect(await deliver(url, directMessage("Ev1"))).toMatchObject({ answer: { outcome: "answered" } });
  await deliver(url, directMessage("Ev2"));
  const [first, second] = slack.posts();
  const code = codeIn(first?.text);
  expect(first?.text).toContain("Your Slack user id: U1");
  expect(code).toMatch(/^[A-HJKMNP-Z]{8}$/);
  expect(codeIn(second?.text)).toBe(code);
  expect(model.calls).toHaveLength(0);
  expect(gateway.stdout()).not.toContain(code);

  expect(await steward(environment, "pairing", "approve", "slack", code.toLowerCase())).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Approved slack sender U1\.\nGranted a person's rights\./),
    stderr: "",
  });
  await eventually(() => slack.posts().length === 3);
  expect(slack.posts()[2]).toMatchObject({
    channel: "D1",
    text: expect.stringContaining("You are approved"),
  });

  await deliver(url, directMessage("Ev3", { text: "now" }));
  expect(slack.posts()[3]?.text).toBe("You said: now");
  expect(model.asked()).toEqual([["user: now"]]);
  expect(await storeFile(home, "slack-allowFrom.json")).toEqual({ version: 1, allowFrom: ["U1"] });
});

test("twenty senders get a code each; the next gets its id, by which the operator lets it in", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);

  for (let index = 1; index <= 20; index += 1)
    await deliver(url, directMessage(`Ev-${index}`, { user: `U${index}` }));
  expect(new Set(slack.posts().map(({ text }) => codeIn(text))).size).toBe(20);
  expect(await deliver(url, directMessage("EvLate", { user: "ULATE" }))).toMatchObject({
    status: 200,
    answer: { outcome: "answered" },
  });
  const told = slack.posts().at(-1)?.text ?? "";
  expect(told).not.toContain("Your pairing code");
  const command = /steward (pairing grant slack ULATE person)/.exec(told)?.[1] ?? "";
  expect(await steward(environment, ...command.split(" "))).toMatchObject({ code: 0 });
  await deliver(url, directMessage("EvAgain", { user: "ULATE", text: "now" }));
  expect(slack.posts().at(-1)?.text).toBe("You said: now");
});

test("a mention in a channel asks for no pairing, and pairing changes nothing there", async () => {
  const { url, home, environment, slack } = await surroundings();
  await startGateway(environment);

  await deliver(url, delivery("Ev1"));

  expect(slack.posts()[0]?.text).toBe("You said: hello");
  expect(await readdir(home)).not.toContain("credentials");
});

test("an approval while the gateway is down is told at its next start, once", async () => {
  const { url, environment, slack } = await surroundings();
  const first = await startGateway(environment);
  await deliver(url, directMessage("Ev1", { thread_ts: "9.9" }));
  first.kill("SIGTERM");
  await first.exited;

  const code = codeIn(slack.posts()[0]?.text);
  expect(await steward(environment, "pairing", "approve", "slack", code)).toMatchObject({ code: 0 });
  const second = await startGateway(environment);
  await eventually(() => slack.posts().length === 2);
  expect(slack.posts()[1]).toMatchObject({ channel: "D1", thread: "9.9" });
  await eventually(() => second.stdout().includes("a sender was notified of its approval"));
  second.kill("SIGKILL");
  await second.exited;

  await startGateway(environment);
  await deliver(url, directMessage("Ev2"));
  expect(slack.posts().map(({ text }) => text?.split(":")[0])).toEqual([
    expect.stringContaining("I do not know you yet"),
    "You are approved",
    "You said",
  ]);
});

test("a notice that Slack does not take is sent again", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);
  await deliver(url, directMessage("Ev1"));
  slack.next(json(500, {}));

  await steward(environment, "pairing", "approve", "slack", codeIn(slack.posts()[0]?.text));

  await eventually(() => slack.posts().length === 3);
  expect(slack.posts()[2]?.text).toContain("You are approved");
});

test("a rejected sender is told nothing, and may ask again for another code", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);
  await deliver(url, directMessage("Ev1"));
  const code = codeIn(slack.posts()[0]?.text);

  expect(await steward(environment, "pairing", "reject", "slack", code)).toMatchObject({
    code: 0,
    stdout: "Rejected slack sender U1.\n",
  });
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(slack.posts()).toHaveLength(1);
  await deliver(url, directMessage("Ev2"));
  expect(codeIn(slack.posts()[1]?.text)).not.toBe(code);
});

test("corrupt stores let nobody in, are set aside and reported", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  const directory = join(home, "credentials");
  await mkdir(directory);
  await writeFile(join(directory, "slack-allowFrom.json"), '{"version":1,"allowFrom":["U1"');
  const gateway = await startGateway(environment);

  await deliver(url, directMessage("Ev1"));

  expect(codeIn(slack.posts()[0]?.text)).toMatch(/^[A-Z]{8}$/);
  expect(model.calls).toHaveLength(0);
  expect(gateway.stdout()).toContain("a store could not be read and was set aside");
  expect((await readdir(directory)).join()).toContain("slack-allowFrom.json.corrupt-");
  expect(pairingStore(home).store.pending()).toHaveLength(1);
});
