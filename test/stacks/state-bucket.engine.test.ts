import * as pulumi from "@pulumi/pulumi";
import { R2Bucket } from "@pulumi/cloudflare/r2bucket.js";
import type { OpMap, PulumiFn } from "@pulumi/pulumi/automation/index.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { withAdoption, GATEWAY } from "../../stacks/adopt.ts";
import { defaultName as nameOf, LONGEST } from "../../infra/serverless/names.ts";
import { StateBucket, type StateBucketArgs } from "../../infra/serverless/state-bucket.ts";
import { ACCOUNT, inAccount, startStage, TOKEN, type Stage } from "../rehearsal/support.ts";
import { cloudflareConfig, createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const OWNER = ".steward-owner.json";

let stage: Stage;
const opened: TestStack[] = [];
/** Changes of the arguments that the program gives; the engine asks it anew in each run. */
let changes: Partial<StateBucketArgs>;

beforeAll(async () => {
  stage = await startStage();
}, ENGINE_MS);

beforeEach(() => {
  changes = {};
});

afterEach(async () => {
  for (const subject of opened.splice(0)) await subject.close();
  const { faults } = stage.cloudflare;
  faults.requests.length = 0;
  faults.objectsOnPage = Infinity;
  for (const bucket of buckets()) {
    const keys = await keysOf(bucket);
    await stage.runner.withBucket(bucket, (one) => one.delete(keys));
  }
  await stage.cloudflare.account.change((draft) => void (draft.buckets = []));
});

afterAll(() => stage?.close(), UPDATE_MS);

/** A program with the bucket alone, as the stacks' program makes it. */
const bucketAlone: PulumiFn = () => {
  const [project, stack] = [pulumi.getProject(), pulumi.getStack()];
  const defaultName = nameOf({ project, stack, name: GATEWAY }, LONGEST.bucket);
  const owner = `${project}/${stack}`;
  const config = new pulumi.Config("cloudflare");
  const cloudflare = { apiToken: config.requireSecret("apiToken"), baseUrl: config.require("baseUrl") };
  const own = { accountId: ACCOUNT, defaultName, owner, connection: { cloudflare } };
  const args = { ...own, onDestroy: "keep" as const, ...changes };
  const parent = new pulumi.ComponentResource("steward:index:ServerlessGateway", GATEWAY, {}, withAdoption());
  return Promise.resolve({ bucketName: new StateBucket(`${GATEWAY}-state`, args, { parent }).name });
};

/** The bucket as stacks had it before: the official resource below a component. */
const formerShape: PulumiFn = () => {
  const parent = new pulumi.ComponentResource("steward:serverless:StateBucket", "state");
  const bucket = new R2Bucket("state", { accountId: ACCOUNT, name: "test-steward" }, { parent });
  return Promise.resolve({ bucketName: bucket.name });
};

async function open(
  options: { program?: PulumiFn; name?: string; project?: string } = {},
): Promise<TestStack> {
  const config = cloudflareConfig(stage.cloudflare.url, TOKEN);
  const subject = await createTestStack({ program: bucketAlone, config, ...options });
  opened.push(subject);
  return subject;
}

const buckets = () => stage.cloudflare.account.state.buckets.map(({ name }) => name);
const failureOf = (work: Promise<unknown>) => work.then(() => "", String);
const changed = async (run: Promise<{ summary: { resourceChanges?: OpMap } }>) =>
  (await run).summary.resourceChanges;

async function put(bucket: string, ...keys: string[]): Promise<void> {
  await stage.runner.withBucket(bucket, async (one) => {
    for (const key of keys) await one.put(key, "content");
  });
}

async function keysOf(bucket: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key = "" } of stage.client.r2.buckets.objects.list(bucket, inAccount)) keys.push(key);
  return keys;
}

async function markerOf(bucket: string): Promise<Record<string, unknown>> {
  const place = { ...inAccount, bucket_name: bucket };
  return (await (await stage.client.r2.buckets.objects.get(OWNER, place)).json()) as Record<string, unknown>;
}

test(
  "a destroy keeps a bucket that holds something, says so, and the next update adopts it",
  async () => {
    const { stack } = await open();
    await stack.up();
    expect(await markerOf("test-steward")).toMatchObject({ owner: "steward/test" });
    expect(Object.keys((await stack.preview()).changeSummary)).toEqual(["same"]);
    await put("test-steward", "steward/generations/1.json", "steward/steward.json");

    const { stdout } = await stack.destroy();
    expect(stdout).toContain(
      "The bucket test-steward stays, with 2 objects (steward:bucketOnDestroy is keep).",
    );
    expect(stdout).toContain("To use it again: pulumi up -s test");
    expect(await markerOf("test-steward")).toMatchObject({ released: expect.any(String) });

    expect((await stack.preview()).stdout).toContain("The bucket test-steward is adopted with its data");
    await stack.up();
    expect(await markerOf("test-steward")).not.toHaveProperty("released");
    expect(await keysOf("test-steward")).toContain("steward/steward.json");
    const refresh = await stack.refresh();
    expect(Object.keys(refresh.summary.resourceChanges ?? {})).toEqual(["same"]);
  },
  UPDATE_MS,
);

test(
  "a destroy deletes a bucket that holds nothing",
  async () => {
    const { stack } = await open();
    await stack.up();
    await stack.destroy();
    expect(buckets()).toEqual([]);
  },
  UPDATE_MS,
);

test(
  "a destroy empties the bucket page by page if the stack says so, and says how many objects went",
  async () => {
    changes = { onDestroy: "empty" };
    const { stack } = await open();
    await stack.up();
    const keys = Array.from({ length: 25 }, (_, number) => `steward/a folder/${number}#?&%`);
    await put("test-steward", ...keys);
    stage.cloudflare.faults.objectsOnPage = 10;

    const { stdout } = await stack.destroy();
    expect(stdout).toContain("Deleted the bucket test-steward with 25 objects.");
    expect(buckets()).toEqual([]);
  },
  UPDATE_MS,
);

test(
  "a bucket that cannot be emptied stays in the state, with its cause and fix, and the next destroy ends it",
  async () => {
    changes = { onDestroy: "empty" };
    const { stack } = await open();
    await stack.up();
    await put("test-steward", "steward/steward.json");
    const { faults } = stage.cloudflare;
    // An unfinished upload is in no list.
    const path = /^\/r2\/buckets\/test-steward$/;
    faults.requests.push({ method: "DELETE", path, times: Infinity, outcome: 409 });
    const failure = await failureOf(stack.destroy());
    expect(failure).toContain("Cloudflare refuses to delete the bucket test-steward (bucket_not_empty)");
    expect(failure).toContain(
      "fix: Stop the programs that write to the bucket, abort unfinished uploads in Cloudflare's dashboard",
    );
    expect(failure).not.toMatch(/\s+at \S+ \(/);
    expect(failure).not.toContain('"success"');
    expect(buckets()).toEqual(["test-steward"]);

    faults.requests.length = 0;
    expect((await stack.destroy()).summary.result).toBe("succeeded");
    expect(buckets()).toEqual([]);
  },
  UPDATE_MS,
);

test(
  "two projects with one stack name have two buckets, and an explicit clash stops the preview with a name that works",
  async () => {
    const first = await open();
    const second = await open({ project: "other" });
    await first.stack.up();
    await second.stack.up();
    expect(buckets()).toEqual(["test-steward", "other-test-steward"]);

    changes = { name: "test-steward" };
    const third = await open({ project: "third" });
    const failure = await failureOf(third.stack.preview());
    expect(failure).toContain("The bucket test-steward belongs to the stack test of the project steward");
    expect(failure).toContain("(bucket_foreign)");
    const [, name] = /fix: pulumi config set -s test steward:bucketName (\S+)/.exec(failure) ?? [];
    changes = { name };
    await third.stack.up();
    expect(buckets()).toEqual(["test-steward", "other-test-steward", "test-steward-2"]);
  },
  UPDATE_MS,
);

test(
  "a lost state stops the preview, and the confirmation that it prints takes the bucket over, once",
  async () => {
    const lost = await open();
    await lost.stack.up();
    await put("test-steward", "steward/steward.json");
    const twin = await open();
    const failure = await failureOf(twin.stack.preview());
    expect(failure).toContain(
      "belongs to another deployment of this stack's name, which is not in this state",
    );
    const [, id] =
      /or, if that was this stack and its state is lost: pulumi config set -s test steward:adoptBucket (\S+)/.exec(
        failure,
      ) ?? [];

    changes = { adopt: id };
    expect((await twin.stack.up()).stdout).toContain(
      "is adopted with its data, as steward:adoptBucket confirms",
    );
    // The former state sees that the bucket is another's, and neither writes to it nor deletes it.
    expect(await changed(lost.stack.refresh())).toMatchObject({ update: 1 });
    changes = {};
    expect(await failureOf(lost.stack.up())).toContain("bucket_foreign");
    expect((await lost.stack.destroy()).stdout).toContain(
      "The bucket test-steward belongs to steward/test and is kept.",
    );
    expect(await keysOf("test-steward")).toContain("steward/steward.json");
    expect(Object.keys((await twin.stack.preview()).changeSummary)).toEqual(["same"]);
  },
  UPDATE_MS,
);

test(
  "a bucket without a marker is taken over only if the operator names it",
  async () => {
    await stage.client.r2.buckets.create({ ...inAccount, name: "test-steward" });
    await put("test-steward", "holiday.jpg");
    const { stack } = await open();
    const failure = await failureOf(stack.preview());
    expect(failure).toContain("holds objects, without steward's backups among them (bucket_unmarked)");
    expect(failure).toContain(
      "or, if the bucket is yours: pulumi config set -s test steward:adoptBucket test-steward",
    );
    expect(await keysOf("test-steward")).toEqual(["holiday.jpg"]);

    changes = { adopt: "test-steward" };
    await stack.up();
    expect(await keysOf("test-steward")).toEqual([OWNER, "holiday.jpg"]);
  },
  UPDATE_MS,
);

test(
  "a stack of the former shape keeps its bucket in an upgrade, and can be destroyed after it",
  async () => {
    const subject = await open({ program: formerShape });
    await subject.stack.up();
    const [former] = stage.cloudflare.account.state.buckets;
    await put("test-steward", "steward/steward.json");
    // What the former version of the package did.
    expect(await failureOf(subject.stack.destroy())).toContain("not empty");

    subject.stack.workspace.program = bucketAlone;
    const preview = await subject.stack.preview();
    expect(preview.changeSummary).not.toHaveProperty("replace");
    expect(preview.changeSummary).toMatchObject({ update: 1 });
    expect(await changed(subject.stack.up())).toMatchObject({ update: 1 });
    expect(stage.cloudflare.account.state.buckets).toEqual([former]);
    expect(await markerOf("test-steward")).toMatchObject({ owner: "steward/test" });
    expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);

    expect((await subject.stack.destroy()).stdout).toContain("The bucket test-steward stays, with 1 object ");
    expect(await keysOf("test-steward")).toContain("steward/steward.json");
  },
  UPDATE_MS,
);

test(
  "a renamed stack keeps its bucket, and the marker follows",
  async () => {
    const { stack } = await open();
    await stack.up();
    const { id } = await markerOf("test-steward");
    await stack.rename({ stackName: "renamed" });

    const preview = await stack.preview();
    expect(preview.changeSummary).toMatchObject({ update: 1 });
    const update = await stack.up();
    expect(update.summary.resourceChanges).toEqual({ same: 2, update: 1 });
    expect(update.outputs["bucketName"]?.value).toBe("test-steward");
    expect(await markerOf("test-steward")).toMatchObject({ id, owner: "steward/renamed" });
    expect(buckets()).toEqual(["test-steward"]);
  },
  UPDATE_MS,
);

test(
  "another name makes another bucket and leaves the former one with its data, which `empty` is refused for",
  async () => {
    changes = { onDestroy: "empty" };
    const { stack } = await open();
    await stack.up();
    await put("test-steward", "steward/steward.json");
    changes = { onDestroy: "empty", name: "another" };
    expect(await failureOf(stack.preview())).toContain("bucket_rename_empties");

    changes = { onDestroy: "keep" };
    await stack.up();
    changes = { onDestroy: "keep", name: "another" };
    expect((await stack.preview()).stdout).toContain("which starts empty. test-steward is kept.");
    await stack.up();
    expect(await keysOf("test-steward")).toContain("steward/steward.json");
    expect(await keysOf("another")).toEqual([OWNER]);
  },
  UPDATE_MS,
);

test(
  "an update that fails between bucket and marker is finished by the next one",
  async () => {
    stage.cloudflare.faults.requests.push({ method: "PUT", path: /objects/, times: 3, outcome: 500 });
    const { stack } = await open();
    expect(await failureOf(stack.up())).toContain("500");
    expect(buckets()).toEqual(["test-steward"]);
    await stack.up();
    expect(await markerOf("test-steward")).toMatchObject({ owner: "steward/test" });
    expect(Object.keys((await stack.preview()).changeSummary)).toEqual(["same"]);
  },
  UPDATE_MS,
);
