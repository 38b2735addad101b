import { expect, onTestFinished, test } from "vitest";
import { mention } from "../../rehearsal/standins/slack.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { toolUseStream } from "../runtime/support/models.ts";
import { startModel } from "../runtime/support/platforms.ts";
import { newDevice, openPage } from "../runtime/support/webchat.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { TYPED } from "../support/typed.ts";
import { startWorker } from "../support/worker.ts";

const REMINDER = { action: "add", at: "2099-01-01T08:00:00Z", text: "Water the plants" };

test("a chat, an approval and a schedule made by chat are there again after a sleep", async () => {
  const { variables, headers } = await identityGateway();
  const model = await startModel();
  const service = await startWorker({
    ...variables,
    ANTHROPIC_BASE_URL: model.url,
    SANDBOX_SLEEP_AFTER: "8s",
  });
  onTestFinished(() => service.stop());
  const url = await service.origin();
  const run = async (command: string): Promise<string> => {
    const query = new URLSearchParams({ cmd: command });
    const response = await service.request(`${ROUTES.cli.path}?${query}`, {
      headers: { ...headers, ...TYPED },
    });
    return ((await response.json()) as { stdout: string }).stdout;
  };

  await service.request("/");
  await service.inState("ready");
  const device = newDevice();
  const page = await openPage(url, device);
  const { command } = await page.got("pairing");
  await run(command.replace(/^steward /, ""));
  await page.got("welcome");
  page.send({ type: "say", id: "message-1", text: "my cat is called Minka" });
  await page.got("answer", "message-1");
  model.next(toolUseStream([{ id: "c1", name: "schedule", input: REMINDER }]));
  await service.postSlack(mention("remind me of the plants"));
  await service.slack.waitFor(() => true, 60_000);
  expect(await run("schedules list")).toContain("2099-01-01");
  await service.inState("stopped");
  // They lie in the bucket: looking at them wakes nothing.
  expect(await run("backup list")).toMatch(/^Id [^\n]*\n00000001-/);
  const backups = await (await service.request(ROUTES.backupsPage.path, { headers })).text();
  expect(backups).toMatch(/<code[^>]*>00000001-\d{8}<\/code>/);
  expect(await (await service.request("/readyz")).json()).toMatchObject({ state: "stopped" });

  await service.request("/");
  await service.inState("ready");
  const again = await openPage(url, device);
  const { history } = await again.got("welcome");
  expect(JSON.stringify(history)).toContain("my cat is called Minka");
  again.send({ type: "say", id: "message-2", text: "what is my cat called?" });
  await again.got("answer", "message-2");
  expect(model.calls.at(-1)?.body).toContain("my cat is called Minka");
  expect(await run("schedules list")).toContain("2099-01-01");
}, 240_000);
