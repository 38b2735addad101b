import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { docker } from "../../../infra/shell/docker.ts";
import { stewardImage } from "../../../infra/bundle/image.ts";
import { runProcess } from "../../../infra/shell/process.ts";
import { hostConfig } from "../../../rehearsal/stack-config.ts";
import { bridgeAddress } from "../../../rehearsal/sandbox.ts";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { engine } from "../../support/docker.ts";
import { freePort } from "../../support/ports.ts";
import { answersState } from "../../support/ready.ts";
import { startStandIns } from "../../support/targets/target.ts";

/** Compose as the docker command's plugin, else Debian's. */
const plugin = (await runProcess("docker", ["compose", "version"])).code === 0;
const [program, ...first] = plugin ? ["docker", "compose"] : ["docker-compose"];
const compose = !(await runProcess(program, [...first, "version"])).missing;
if (!compose && process.env["CI"]) throw new Error("CI skips nothing, and Docker Compose is missing");
if (!compose) process.stderr.write("skipped: what needs Docker Compose\n");

const UP_MS = 240_000;

describe("npm run compose", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-compose-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs the command on a stack with these settings. */
  async function made(config: Record<string, unknown>) {
    await writeFile(path.join(folder, "Pulumi.test.yaml"), stringify({ config }));
    const words = ["stacks/commands/compose.ts", "test", "--settings", folder, "--out", folder];
    return runProcess(process.execPath, words);
  }

  const written = (name: string) => readFile(path.join(folder, name), "utf8");

  test("names the secrets, and holds none of their values", async () => {
    const { code, stdout } = await made({
      "steward:target": "host",
      "steward:hostAddress": "::1",
      "steward:hostDataDirectory": "/srv/steward",
      "steward:image": "registry.example.com/steward:1",
      "steward:slackBotToken": { secure: "v1:abc:def" },
      "steward:slackSigningSecret": { secure: "v1:abc:def" },
      "steward:endpoints": { slack: "https://slack.example.com/$team/" },
    });
    const file = await written("compose.yaml");

    expect(code).toBe(0);
    expect(stdout).toContain("3 secrets to fill in");
    expect(stdout).toContain("Also set ADMIN_TOKEN in .env");
    const environment = await written(".env.example");
    expect(environment).toContain(
      "# Required\nANTHROPIC_API_KEY=\nSLACK_BOT_TOKEN=\nSLACK_SIGNING_SECRET=\n\n",
    );
    for (const name of ["ADMIN_TOKEN", "TELEGRAM_BOT_TOKEN", "DISCORD_PUBLIC_KEY", "OPENAI_API_KEY"])
      expect(environment).toContain(`\n# ${name}=\n`);
    expect(file).toContain("TELEGRAM_BOT_TOKEN: ${TELEGRAM_BOT_TOKEN:-}");
    expect(file).toContain("ENVIRONMENT_NAME: test");
    expect(file).toContain("ANTHROPIC_API_KEY: ${ANTHROPIC_API_KEY:?}");
    expect(file).toContain("SLACK_API_URL: https://slack.example.com/$$team/");
    expect(file).toContain('- "[::1]:8080:8080"');
    expect(file).toContain("- /srv/steward:/root/.steward");
    expect(file).not.toMatch(/v1:abc|hidden|^volumes:/m);
  });

  test.each([
    { config: { "steward:target": "serverless" }, cause: "(stack_not_host)" },
    {
      config: { "steward:target": "host", "steward:slackBotToken": "xoxb-plain" },
      cause: "stored as plain text",
    },
    { config: { "steward:target": "host", "steward:hostPort": 0 }, cause: "a whole number from 1 to 65535" },
  ])("refuses $config as a deployment does", async ({ config, cause }) => {
    const { code, stderr } = await made(config);

    expect(code).toBe(1);
    expect(stderr).toContain(cause);
    await expect(written("compose.yaml")).rejects.toThrow("ENOENT");
  });

  test("says that a stack is not there", async () => {
    const { code, stderr } = await runProcess(process.execPath, ["stacks/commands/compose.ts", "nowhere"]);

    expect(code).toBe(1);
    expect(stderr).toBe(
      "stacks/Pulumi.nowhere.yaml cannot be read: ENOENT (settings_missing)\n" +
        "  fix: Use a stack that has a settings file, or give the file's folder with --settings.\n",
    );
  });

  test.skipIf(!engine.ok || !compose)(
    "makes a service that answers as the stack's container does, with the same rights and limits",
    { timeout: UP_MS },
    async () => {
      const { settings, platforms } = await startStandIns(await bridgeAddress());
      onTestFinished(platforms.close);
      const port = await freePort();
      const given = Object.entries(hostConfig({ settings, endpoints: platforms.endpoints }));
      const config = given.map(([key, { value, secret }]) => [key, secret ? { secure: value } : value]);
      await stewardImage(await buildBundle(), () => {});
      await made({ ...Object.fromEntries(config), "steward:hostPort": port });
      // Names of its own, on an engine that others use too.
      const name = path.basename(folder).toLowerCase();
      const own = { services: { steward: { container_name: name } }, volumes: { data: { name } } };
      await writeFile(path.join(folder, "own.yaml"), stringify(own));
      const values: Record<string, string> = {
        ANTHROPIC_API_KEY: settings.secrets.anthropicApiKey,
        SLACK_BOT_TOKEN: settings.secrets.slackBotToken,
        SLACK_SIGNING_SECRET: settings.secrets.slackSigningSecret,
        TELEGRAM_BOT_TOKEN: settings.secrets.telegramBotToken,
        DISCORD_BOT_TOKEN: settings.secrets.discordBotToken,
        ADMIN_TOKEN: settings.secrets.adminToken,
      };
      const names = (await written(".env.example")).match(/^[A-Z_]+(?==$)/gm) ?? [];
      expect(names.toSorted()).toEqual(Object.keys(values).sort());
      const composed = (...words: string[]) => {
        const files = ["--file=compose.yaml", "--file=own.yaml"];
        return runProcess(program, [...first, `--project-name=${name}`, ...files, ...words], { cwd: folder });
      };

      const unset = await composed("up", "--detach");
      expect(unset.code).not.toBe(0);
      expect(unset.stderr).toContain("ADMIN_TOKEN");
      const filled = Object.entries(values).map(([key, value]) => `${key}=${value}\n`);
      await writeFile(path.join(folder, ".env"), filled.join(""));
      onTestFinished(async () => {
        await docker(["rm", "--force", name]);
        await docker(["volume", "rm", "--force", name]);
        await docker(["network", "rm", `${name}_default`]);
      });
      const up = await composed("up", "--detach");
      expect(up.code, up.stderr).toBe(0);

      const url = `http://127.0.0.1:${port}`;
      await answersState(url, "ready");
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      const sent = await fetch(`${url}/slack/events`, {
        method: "POST",
        ...platforms.slack.sign(mention("by Compose")),
      });
      expect(sent.status).toBe(200);
      await platforms.slack.waitFor((message) => message.text.includes("by Compose"), 60_000);
      const [container] = JSON.parse((await docker(["inspect", name])).stdout);
      expect(container.HostConfig).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Memory: 512 * 1024 * 1024,
        MemorySwap: 512 * 1024 * 1024,
        Tmpfs: { "/tmp": "rw,noexec,nosuid,nodev,size=64m" },
        Ulimits: [{ Name: "nproc", Soft: 512, Hard: 512 }],
        RestartPolicy: { Name: "unless-stopped" },
        LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
        PortBindings: { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      });
      expect(container.Config).toMatchObject({ User: "steward", StopTimeout: 10 });
      expect(container.Config.Healthcheck).toMatchObject({ Interval: 10e9, Timeout: 5e9, Retries: 3 });
    },
  );
});
