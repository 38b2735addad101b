import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { SECRETS, startRuntime } from "../support/processes.ts";
import { listens } from "../../support/ports.ts";

/** Runs a gateway that is expected to end by itself, and looks whether its port ever answered. */
async function fails(environment: Record<string, string>, port = Number(environment["GATEWAY_PORT"])) {
  const gateway = startRuntime("gateway/main.ts", environment);
  let listened = false;
  const look = setInterval(async () => (listened ||= await listens(port)), 5);
  await gateway.exited;
  clearInterval(look);
  return { code: await gateway.exited, listened, stderr: gateway.stderr(), stdout: gateway.stdout() };
}

test("an unknown key in the config ends the start before the port listens", async () => {
  const { home, environment } = await surroundings();
  const path = join(home, "steward.json");
  await writeFile(path, JSON.stringify({ channels: { telegram: { botToken: "123456:x", dm: {} } } }));

  const { code, listened, stderr } = await fails(environment);

  expect(code).toBe(1);
  expect(listened).toBe(false);
  const [head, problem, hint] = stderr.trimEnd().split("\n");
  expect(head).toBe(`Invalid config at ${path}:`);
  expect(problem).toBe(
    '- channels.telegram: Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)',
  );
  expect(hint).toMatch(/^Fix: .*delete the config file/);
});

test("all problems of a config are told at once", async () => {
  const { home, environment } = await surroundings();
  await writeConfig(home, { dmPolicy: "open", colour: 1 }, { models: { primary: "gpt" }, extra: true });

  const { code, stderr } = await fails(environment);

  expect(code).toBe(1);
  expect(stderr).toContain('- channels.slack: Unrecognized key: "colour"');
  expect(stderr).toContain("- models.primary: must be <provider>/<model id>");
  expect(stderr).toContain('- (root): Unrecognized key: "extra"');
});

test("a config that is not JSON is told without quoting it", async () => {
  const { home, environment } = await surroundings();
  await writeFile(join(home, "steward.json"), `{"botToken": topsecretvalue}`);

  const { code, stderr } = await fails(environment);

  expect(code).toBe(1);
  expect(stderr).toContain(`Invalid config at ${join(home, "steward.json")}:\n- (root): Not valid JSON: `);
  expect(stderr).not.toContain("topsecret");
});

test("a reference to a variable that is not set is a problem of the config", async () => {
  const { home, environment } = await surroundings();
  await writeConfig(home);

  const { code, stderr } = await fails({ ...environment, SLACK_BOT_TOKEN: "" });

  expect(code).toBe(1);
  expect(stderr).toContain("- channels.slack.botToken: Environment variable SLACK_BOT_TOKEN is not set");
});

test("TELEGRAM_DM_POLICY with a value ends the start with the remedy; empty is fine", async () => {
  const { environment } = await surroundings();

  const { code, listened, stderr } = await fails({ ...environment, TELEGRAM_DM_POLICY: "open" });
  expect(code).toBe(1);
  expect(listened).toBe(false);
  expect(stderr).toContain("TELEGRAM_DM_POLICY has a non-empty value");
  expect(stderr).toContain("Fix: Remove TELEGRAM_DM_POLICY");

  await startGateway({ ...environment, TELEGRAM_DM_POLICY: "" });
});

test("wrong variables are all named", async () => {
  const { environment, port } = await surroundings();
  const wrong = { GATEWAY_PORT: "http", STEWARD_BIND: "here", LOG_LEVEL: "loud", STEWARD_HOME: "data" };

  const { code, stderr } = await fails({ ...environment, ...wrong }, port);

  expect(code).toBe(1);
  for (const name of Object.keys(wrong)) expect(stderr).toContain(`${name}: "`);
});

test("a port in use is told with its number", async () => {
  const { environment, port } = await surroundings();
  await startGateway(environment);

  const second = startRuntime("gateway/main.ts", environment);

  expect(await second.exited).toBe(1);
  expect(second.stderr()).toContain(`Error [inner_port_in_use]: Port ${port} on 127.0.0.1 is already in use`);
});

test("a data directory that may not be made is told with the fix", async () => {
  const { environment } = await surroundings();

  const { code, stderr } = await fails({ ...environment, STEWARD_HOME: "/sys/steward" });

  expect(code).toBe(1);
  expect(stderr).toContain("Error [data_directory_unwritable]: /sys/steward cannot be written");
  expect(stderr).toContain("chown");
});

test("the first start writes the config from the environment, private and without a secret", async () => {
  const { home, environment } = await surroundings();
  const data = join(home, "data");
  await startGateway({
    ...environment,
    STEWARD_HOME: data,
    TELEGRAM_BOT_TOKEN: "123456789:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  });

  const text = await readFile(join(data, "steward.json"), "utf8");
  const { channels } = JSON.parse(text);
  expect(channels.slack.botToken).toEqual({ env: "SLACK_BOT_TOKEN" });
  expect(channels.telegram).toEqual({ botToken: { env: "TELEGRAM_BOT_TOKEN" } });
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
  expect((await stat(data)).mode & 0o777).toBe(0o700);
  expect((await stat(join(data, "steward.json"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(data, "state.db"))).mode & 0o777).toBe(0o600);
});

test("a config that is there is left as it is", async () => {
  const { home, environment } = await surroundings();
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "steward.json"), "{}");
  await startGateway(environment);

  expect(await readFile(join(home, "steward.json"), "utf8")).toBe("{}");
});
