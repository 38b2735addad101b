import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ACCOUNT,
  deployAll,
  inAccount,
  startStage,
  tieApplication,
  TOKEN,
  until,
  type Stage,
} from "./support.ts";

const WRANGLER = join(fileURLToPath(import.meta.resolve("wrangler/package.json")), "../bin/wrangler.js");
const NO_BUCKETS = "may-do-all-but-buckets".padEnd(40, "x");
describe("Cloudflare's own wrangler against the emulated API", () => {
  let stage: Stage;
  let deployed: Awaited<ReturnType<typeof deployAll>>;
  let applicationId: string;

  beforeAll(async () => {
    stage = await startStage(undefined, {
      scopedTokens: { [NO_BUCKETS]: ["workers:edit", "containers:edit", "access:edit"] },
    });
    deployed = await deployAll(stage.client);
    applicationId = (await tieApplication(stage.client, deployed.namespaceId)).id;
  });

  afterAll(() => stage?.close());

  /** Runs it with nothing of this machine's own settings. */
  async function wrangler(words: string[], token = TOKEN): Promise<{ code: number | null; said: string }> {
    const env = {
      PATH: process.env["PATH"],
      HOME: stage.dir,
      CLOUDFLARE_API_BASE_URL: stage.cloudflare.url,
      CLOUDFLARE_API_TOKEN: token,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
      WRANGLER_SEND_METRICS: "false",
      NO_COLOR: "1",
    };
    const child = spawn(process.execPath, [WRANGLER, ...words], { cwd: stage.dir, env });
    child.stdin.end();
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
    }
    const [code] = (await once(child, "close")) as [number | null];
    return { code, said };
  }

  test("makes, lists and deletes a bucket", async () => {
    expect(await wrangler(["r2", "bucket", "create", "by-wrangler"])).toMatchObject({ code: 0 });
    expect((await wrangler(["r2", "bucket", "list"])).said).toMatch(/test-steward[\s\S]*by-wrangler/);
    expect(await wrangler(["r2", "bucket", "delete", "by-wrangler"])).toMatchObject({ code: 0 });
    const { buckets } = await stage.client.r2.buckets.list(inAccount);
    expect(buckets?.map(({ name }) => name)).toEqual(["test-steward"]);
  });

  test("writes an object and reads it, and may not without the permission", async () => {
    const path = "test-steward/steward/note.json";
    await writeFile(join(stage.dir, "note.json"), "by wrangler");
    const put = ["r2", "object", "put", path, "--remote", "--file", "note.json"];
    expect(await wrangler(put)).toMatchObject({ code: 0 });
    const get = ["r2", "object", "get", path, "--remote", "--pipe"];
    expect(await wrangler(get)).toEqual({ code: 0, said: "by wrangler" });
    expect(await wrangler(get, NO_BUCKETS)).toMatchObject({ code: 1 });
  });

  test("shows what is deployed, and every version", async () => {
    const status = await wrangler(["deployments", "status", "--name", "steward"]);
    expect(status.said).toContain(`(100%) ${deployed.versionId}`);
    const versions = await wrangler(["versions", "list", "--name", "steward", "--json"]);
    expect(JSON.parse(versions.said).map(({ number }: { number: number }) => number)).toEqual([1, 2]);
  });

  test("is told what its token may not do", async () => {
    const { code, said } = await wrangler(["r2", "bucket", "list"], NO_BUCKETS);
    expect(code).toBe(1);
    expect(said).toContain("Authentication error [code: 10000]");
    expect(await wrangler(["deployments", "status", "--name", "steward"], NO_BUCKETS)).toMatchObject({
      code: 0,
    });
  });

  test("shows and deletes a container application", async () => {
    expect((await wrangler(["containers", "info", applicationId])).said).toContain("steward-sandbox");
    expect(await wrangler(["containers", "delete", applicationId])).toMatchObject({ code: 0 });
    const { applications } = stage.client.containers;
    await until(async () => (await applications.list(inAccount)).result?.length === 0);
  });
});
