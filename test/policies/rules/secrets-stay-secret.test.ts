import { describe, expect, test } from "vitest";
import { secretsStaySecret } from "../../../policies/rules/secrets-stay-secret.ts";
import { container, violations, workerVersion } from "../resources.ts";

describe("secrets-stay-secret", () => {
  test("passes a Worker whose secrets are secret bindings", async () => {
    expect(await violations(secretsStaySecret, workerVersion())).toEqual([]);
  });

  test("refuses a secret in a plain binding", async () => {
    const resource = workerVersion([{ name: "ANTHROPIC_API_KEY", type: "plain_text", text: "sk-1" }]);

    expect(await violations(secretsStaySecret, resource)).toEqual([
      "ANTHROPIC_API_KEY is a secret but bound as plain_text. Bind it as secret_text.",
    ]);
  });

  test("passes a container whose variables are kept secret in the state", async () => {
    expect(await violations(secretsStaySecret, container())).toEqual([]);
  });

  test("refuses a container whose variables are stored in plain", async () => {
    const resource = { ...container(), opts: { additionalSecretOutputs: [] } };

    expect(await violations(secretsStaySecret, resource)).toEqual([
      'SLACK_BOT_TOKEN is a secret, and the container\'s envs are stored in plain. Add "envs" to additionalSecretOutputs.',
    ]);
  });

  test("does not look at other resources", async () => {
    const resource = {
      ...container(),
      type: "docker:index/volume:Volume",
      opts: { additionalSecretOutputs: [] },
    };

    expect(await violations(secretsStaySecret, resource)).toEqual([]);
  });
});
