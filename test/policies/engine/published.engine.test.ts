import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";
import { createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const POLICIES = resolve("stacks/commands/policies.ts");
const BUCKET = { accountId: "0123456789abcdef0123456789abcdef", bucketName: "test-steward" };

let folder: string;
let pack: string;
/** What the command said when it made the pack. */
let said: string;
let subject: TestStack;
let provider: ChildProcess;
/** The type of the one resource that the program has. */
let type = "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle";

class Given extends pulumi.CustomResource {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "steward-published-"));
  pack = join(folder, "pack");
  const made = await runProcess(process.execPath, [POLICIES, "--publish-dir", pack], { cwd: folder });
  if (made.code !== 0) throw new Error(made.stderr);
  said = made.stdout;
  provider = spawn(process.execPath, [join(import.meta.dirname, "provider.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = (await once(provider.stdout ?? provider, "data")) as [Buffer];
  subject = await createTestStack({
    program: () => Promise.resolve(void new Given(type, "one", { ...BUCKET, name: "test-steward" })),
    config: {},
    environment: {
      PULUMI_DEBUG_PROVIDERS: `cloudflare:${port.toString().trim()}`,
      // What runs the pack is its own too: nothing of this checkout's packages is left.
      STEWARD_NODE_MODULES: join(pack, "node_modules"),
    },
  });
}, ENGINE_MS);

afterAll(async () => {
  await subject?.close();
  provider?.kill();
  await rm(folder, { recursive: true, force: true });
});

test("holds what a publication takes: the pack, its version, and packages that are pinned", async () => {
  expect(said).toContain(`cd ${pack} && pulumi policy publish <organization>`);
  const manifest = JSON.parse(await readFile(join(pack, "package.json"), "utf8")) as Record<string, unknown>;
  const own = createRequire(import.meta.url)("../../../package.json") as {
    dependencies: Record<string, string>;
  };
  expect(manifest).toMatchObject({ name: "steward", main: "index.cjs" });
  expect(manifest["version"]).toMatch(/^\d+\.\d+\.\d+$/);
  const { "@pulumi/policy": policy, "@pulumi/pulumi": sdk, zod } = own.dependencies;
  expect(manifest["dependencies"]).toEqual({ "@pulumi/policy": policy, "@pulumi/pulumi": sdk, zod });
  // As `pulumi policy publish` packs it: what is installed stays behind, and is installed anew from these pins.
  const packed = await runProcess("npm", ["pack", "--dry-run", "--json"], { cwd: pack });
  const [{ files } = { files: [] }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
  expect(files.map(({ path }) => path).sort()).toEqual(["PulumiPolicy.yaml", "index.cjs", "package.json"]);
});

test(
  "stops a wrong resource from outside of the checkout, and lets a right one pass",
  async () => {
    const right = await subject.stack.preview({ policyPacks: [pack] });
    expect(right.stdout).toContain("steward@v");
    expect(right.stdout).not.toContain("[mandatory]");

    type = "cloudflare:index/r2ManagedDomain:R2ManagedDomain";
    const wrong = subject.stack.preview({ policyPacks: [pack] });
    await expect(wrong).rejects.toThrow(/\[mandatory\] \[severity: critical\] +bucket-private /);
  },
  UPDATE_MS,
);

test("leaves a folder alone that holds something else", async () => {
  await writeFile(join(folder, "notes.txt"), "mine");
  const refused = await runProcess(process.execPath, [POLICIES, "--publish-dir", folder]);
  expect(refused.stderr).toMatch(
    /contains notes.txt, pack \(policy_folder_taken\)\n {2}fix: Use a new or empty folder\./,
  );
  expect(refused.code).toBe(1);
  expect((await readdir(folder)).sort()).toEqual(["notes.txt", "pack"]);
});
