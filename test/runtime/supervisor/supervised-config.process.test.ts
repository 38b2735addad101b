import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";

test("the real gateway's invalid config is given up at once, and a mended file starts it", async () => {
  const { supervisor, home } = await supervised(undefined);
  const path = join(home, "steward.json");
  await writeFile(path, JSON.stringify({ channels: { telegram: { botToken: "123456789:secret", dm: {} } } }));
  supervisor.start();

  const status = await supervisor.whenSettled(20_000);
  expect(status).toMatchObject({
    state: "crash-looping",
    restarts: 0,
    reason: {
      code: "config_invalid",
      detail: `Invalid config at ${path}:\n- channels.telegram: Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)`,
    },
  });
  expect(await supervisor.config()).toEqual({
    config: { channels: { telegram: { botToken: "[redacted]", dm: {} } } },
    path,
    valid: false,
    problems: [
      {
        path: "channels.telegram",
        message: 'Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)',
        line: 1,
      },
    ],
  });

  await writeFile(path, "{}");
  expect(await eventually(() => supervisor.status().state === "ready")).toBe(true);
  expect(await supervisor.config()).toMatchObject({ config: {}, valid: true, problems: [] });
});

test("a config that is corrected before the crash is noticed starts the gateway", async () => {
  const { supervisor, home } = await supervised(`
    import { readFileSync, writeFileSync } from "node:fs";
    const path = process.env.STEWARD_HOME + "/steward.json";
    const invalid = readFileSync(path, "utf8") !== "{}";
    if (invalid) {
      writeFileSync(path, "{}");
      console.error("Invalid config at " + path + ":\\n- agent: Unrecognized key");
      process.exitCode = 1;
    } else ready();
  `);
  await writeFile(join(home, "steward.json"), '{"agent":{"no":1}}');
  supervisor.start();
  await expect.poll(() => supervisor.status().state).toBe("ready");
});

test("the real gateway's TELEGRAM_DM_POLICY is given up at once, with the remedy", async () => {
  const { supervisor } = await supervised(undefined, { environment: { TELEGRAM_DM_POLICY: "open" } });
  supervisor.start();

  expect(await supervisor.whenSettled(20_000)).toMatchObject({
    state: "crash-looping",
    restarts: 0,
    reason: { code: "dm_policy_set", fix: expect.stringContaining("Remove TELEGRAM_DM_POLICY") },
  });
});

test("a config that is missing or not JSON is shown as such", async () => {
  const { supervisor, home } = await supervised("ready();");
  expect(await supervisor.config()).toMatchObject({
    config: null,
    valid: false,
    problems: [{ path: "", message: "The file does not exist" }],
  });
  await writeFile(join(home, "steward.json"), "{");
  expect(await supervisor.config()).toMatchObject({ config: null, valid: false });
});
