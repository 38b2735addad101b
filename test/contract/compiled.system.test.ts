import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { freePorts } from "../../rehearsal/ports.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { SMALL_HEAP } from "../../runtime/supervisor/memory.ts";
import { answersState } from "../support/ready.ts";
import { baseEnvironment, startSurroundings } from "../support/service.ts";

const run = promisify(execFile);
const REPLY_MS = 30_000;

test("a service that the image's warm-up has compiled compiles nothing, up to its first reply", async () => {
  const { container } = await buildBundle();
  const surroundings = await startSurroundings();
  onTestFinished(() => surroundings.close());
  const home = await mkdtemp(join(tmpdir(), "steward-compiled-"));
  onTestFinished(() => rm(home, { recursive: true }));
  const [gateway, supervisor, port] = await freePorts(3);
  const env = {
    ...baseEnvironment(home),
    NODE_COMPILE_CACHE: join(home, "compiled"),
    GATEWAY_PORT: `${gateway}`,
    SUPERVISOR_PORT: `${supervisor}`,
    PORT: `${port}`,
    STEWARD_CONTROL_TOKEN: "compiled-control-token",
    ADMIN_TOKEN: "compiled-admin-token-0123456789",
    ...surroundings.environment,
  };
  const program = (name: string): string => join(container.dir, "host", name);
  await run(process.execPath, [...SMALL_HEAP, program("warm.js")], { env });

  const service = spawn(process.execPath, [...SMALL_HEAP, program("main.js")], {
    env: { ...env, NODE_DEBUG_NATIVE: "COMPILE_CACHE" },
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  const written = Promise.all([text(service.stdout), text(service.stderr)]);
  const url = `http://127.0.0.1:${port}`;
  await answersState(url, "ready");
  const reply = surroundings.slack.waitFor((message) => message.text.includes("compiled?"), REPLY_MS);
  await fetch(`${url}/slack/events`, { method: "POST", ...surroundings.slack.sign(mention("compiled?")) });
  await reply;
  service.kill("SIGTERM");
  await once(service, "exit");

  const told = (await written)
    .join("\n")
    .matchAll(/V8 code cache for \w+ (\S+) was (accepted|rejected|not initialized)/g);
  const files = [...told].map(([, file = "", how = ""]) => ({ file, how }));
  expect(files.filter(({ how }) => how !== "accepted")).toEqual([]);
  expect(files.filter(({ file }) => file.endsWith("gateway/main.js"))).toHaveLength(1);
});

test("the flags of a start leave what Node brings along compiled usable", async () => {
  const tag = async (...flags: readonly string[]): Promise<string> =>
    (await run(process.execPath, [...flags, "-p", "v8.cachedDataVersionTag()"])).stdout;

  expect(await tag(...SMALL_HEAP)).toBe(await tag());
  expect(await tag("--optimize-for-size")).not.toBe(await tag());
});
