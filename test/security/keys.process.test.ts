import { open, readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { mention } from "../../rehearsal/standins/slack.ts";
import { startHost } from "../support/host.ts";

const OWN_KEY = "a-key-of-the-operators-own";
const CONFIG = {
  tools: { mcp: { own: { url: "http://127.0.0.1:9/", headers: { key: { env: "OWN_KEY" } } } } },
};

test.skipIf(process.platform !== "linux")(
  "the environment that /proc shows of the gateway holds no key, and it has them all the same",
  async () => {
    const host = await startHost({
      environment: { STEWARD_OWN_SECRETS: "OWN_KEY", OWN_KEY },
      config: CONFIG,
    });
    onTestFinished(() => host.stop());
    await host.inState("ready");
    const environ = await readFile(`/proc/${await host.gatewayPid()}/environ`, "utf8");
    expect(environ).toContain("STEWARD_SUPERVISED=1");
    const keys = [...Object.values(host.secrets), OWN_KEY];
    expect(keys.filter((key) => environ.includes(key))).toEqual([]);
    expect(environ).not.toContain("STEWARD_CONTROL_TOKEN");
  },
);

test.skipIf(process.platform !== "linux")(
  "the gateway's memory holds none of the service's keys, while it answers with them",
  async () => {
    const host = await startHost({
      environment: { STEWARD_OWN_SECRETS: "OWN_KEY", OWN_KEY },
      config: CONFIG,
    });
    onTestFinished(() => host.stop());
    await host.inState("ready");
    const event = mention("are you there?");
    await host.postSlack(event);
    await host.slack.waitFor(({ text }) => text.includes("are you there?"), 30_000);
    const memory = await memoryOf(await host.gatewayPid());
    const { slackBotToken, slackSigningSecret, anthropicApiKey, adminToken } = host.secrets;
    const found = [slackBotToken, slackSigningSecret, anthropicApiKey, adminToken, OWN_KEY].filter((key) =>
      memory.includes(key),
    );
    // Its own use is the config's affair, so this one is handed over: the search finds what is there.
    expect(found).toEqual([OWN_KEY]);
  },
);

/** What a process can write to, as its kernel shows it to root and to the process's own user. */
async function memoryOf(pid: number): Promise<Buffer> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8");
  const ranges = [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)].map(([, from, to]) => ({
    from: Number.parseInt(from ?? "", 16),
    to: Number.parseInt(to ?? "", 16),
  }));
  const file = await open(`/proc/${pid}/mem`);
  const chunks: Buffer[] = [];
  for (const { from, to } of ranges) {
    const chunk = Buffer.alloc(to - from);
    // Reserved pages that were never touched cannot be read.
    const read = await file.read(chunk, 0, chunk.length, from).catch(() => ({ bytesRead: 0 }));
    chunks.push(chunk.subarray(0, read.bytesRead));
  }
  await file.close();
  return Buffer.concat(chunks);
}
