import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { startHost } from "../support/host.ts";

test.skipIf(process.platform !== "linux")(
  "the environment that /proc shows of the gateway holds no key, and it has them all the same",
  async () => {
    const host = await startHost({
      environment: { STEWARD_OWN_SECRETS: "OWN_KEY", OWN_KEY: "a-key-of-the-operators-own" },
      config: {
        tools: { mcp: { own: { url: "http://127.0.0.1:9/", headers: { key: { env: "OWN_KEY" } } } } },
      },
    });
    onTestFinished(() => host.stop());
    await host.inState("ready");
    const environ = await readFile(`/proc/${await host.gatewayPid()}/environ`, "utf8");
    expect(environ).toContain("STEWARD_SUPERVISED=1");
    const keys = [...Object.values(host.secrets), "a-key-of-the-operators-own"];
    expect(keys.filter((key) => environ.includes(key))).toEqual([]);
    expect(environ).not.toContain("STEWARD_CONTROL_TOKEN");
  },
);
