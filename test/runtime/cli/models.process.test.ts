import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { stewardHere } from "../support/cli.ts";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { modelError, startModel } from "../support/platforms.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

const PRIMARY = "anthropic/claude-sonnet-4-5";

async function commandLine() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const server = await startModel();
  const environment = { ...SECRETS, STEWARD_HOME: home, ANTHROPIC_BASE_URL: server.url };
  return { home, server, run: (...args: string[]) => stewardHere(environment, ...args) };
}

test("the models are listed in their order with prices, and one is asked a short question that counts as used", async () => {
  const { home, server, run } = await commandLine();
  const listed = JSON.parse((await run("models", "list", "--json")).stdout);
  expect(listed).toEqual({ models: [{ id: PRIMARY, state: "unknown", price: { input: 3, output: 15 } }] });
  expect((await run("models", "list")).stdout).toMatch(/Model +State +Price[\s\S]*3 in, 15 out/);
  expect(server.calls).toHaveLength(0);

  const tested = await run("models", "test", PRIMARY);
  expect(tested.stdout, tested.stderr).toMatch(
    /^anthropic\/claude-sonnet-4-5 answered after \d+ ms: \d+ tokens in, \d+ out\.\n$/,
  );
  expect(server.calls).toHaveLength(1);
  using database = new DatabaseSync(join(home, "state.db"));
  expect(database.prepare("SELECT model, requests FROM usage").all()).toMatchObject([
    { model: PRIMARY, requests: 1 },
  ]);
});

test("a refusal is reported with its fix; a model outside the config is not asked", async () => {
  const { server, run } = await commandLine();
  server.next(modelError(401, "authentication_error", "invalid x-api-key"));
  const refused = await run("models", "test", PRIMARY, "--json");
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "model_key_invalid" } });
  expect(refused.stderr).toContain("Fix:");
  const asked = server.calls.length;
  const unknown = await run("models", "test", "anthropic/other");
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toContain(`The config has no model anthropic/other. It has ${PRIMARY}.`);
  expect(server.calls).toHaveLength(asked);
});

test("the running gateway asks for a test, so that a success ends its word that the model fails", async () => {
  const { environment, model, url } = await surroundings();
  await startGateway(environment);
  const state = async () => (await askJson<GatewayStatus>(`${url}/status`)).models[0]?.state;
  model.next(modelError(401, "authentication_error", "invalid x-api-key"));
  await deliver(url, delivery("Ev1"));
  expect(await state()).toBe("failing");

  expect(await stewardHere(environment, "models", "test", PRIMARY)).toMatchObject({ code: 0 });
  expect(await state()).toBe("ready");

  model.next(modelError(401, "authentication_error", "invalid x-api-key"));
  const refused = await stewardHere(environment, "models", "test", PRIMARY, "--json");
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "model_key_invalid" } });
  expect(await state()).toBe("failing");
});
