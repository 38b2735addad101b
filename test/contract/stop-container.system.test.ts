import { expect, onTestFinished, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { engine } from "../support/docker.ts";
import { answersState } from "../support/ready.ts";
import { startContainer } from "../support/targets/container.ts";

/** What a container engine waits by default before it kills. */
const STOP_SECONDS = 10;

test.skipIf(!engine.ok)(
  "a stop ends the container in time though an answer takes longer, which comes after the next start",
  { timeout: 240_000 },
  async () => {
    let modelTakes = 60_000;
    const apiKey = "the-slow-model's-key";
    const model = await startModel({
      hostname: await bridgeAddress(),
      port: 0,
      apiKey,
      delayMs: () => modelTakes,
    });
    const environment = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: apiKey };
    const { name, url, platforms, stop } = await startContainer({ environment });
    onTestFinished(async () => {
      await stop();
      await model.close();
    });
    await answersState(url, "ready");
    const text = "an answer that takes longer than a stop may";
    const sent = await fetch(`${url}/slack/events`, {
      method: "POST",
      ...platforms.slack.sign(mention(text)),
    });
    expect(sent.status).toBe(200);

    await docker(["stop", `--time=${STOP_SECONDS}`, name]);
    const { stdout } = await docker(["inspect", "--format", "{{.State.ExitCode}}", name]);
    expect(stdout.trim()).toBe("0");
    modelTakes = 0;
    await docker(["start", name]);
    const reply = await platforms.slack.waitFor((message) => message.text.includes(text), 120_000);

    expect(reply.text).toContain(text);
  },
);
