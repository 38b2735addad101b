import { randomUUID } from "node:crypto";
import * as cloudflare from "@pulumi/cloudflare";
import * as command from "@pulumi/command";
import type * as pulumi from "@pulumi/pulumi";
import { AttestationKey } from "../../infra/secrets/attestation-key.ts";
import type { AccountState, AccountStore } from "../../rehearsal/cloudflare/index.ts";
import { ACCOUNT } from "../rehearsal/support.ts";
import { figure, median, type Figure } from "../support/measure.ts";
import { startServerlessStage } from "../support/serverless-stack.ts";
import type { TestStack } from "../support/stack.ts";

/**
 * The promise is a ratio to a program with one resource of each provider, which starts the same processes. A program
 * without resources starts none of them, so a ratio to it measures the providers: it is shown, and nothing is promised
 * (docs/decisions/0012-what-a-preview-is-held-against.md).
 */
const OPERATIONS = [
  { name: "preview", atMost: 2.5 },
  { name: "up", atMost: 2.5 },
] as const;
const STACKS = [1, 20];

/** Programs to compare: the serverless stack, one without resources, and one with a resource of each provider. */
type Subjects = Record<"whole" | "empty" | "each", TestStack>;

/**
 * A preview of the whole serverless stack and an update without changes, each against those of a program without
 * resources, and against what any program with these providers takes: same engine, same machine, in turn. Then once
 * more with the account as twenty stacks leave it.
 */
export async function benchStack(runs: number, log: (line: string) => void): Promise<Figure[]> {
  const world = await startServerlessStage({ ownProvider: true });
  try {
    const subjects: Subjects = {
      whole: await world.stack(),
      empty: await world.stack({ name: "empty", program: () => Promise.resolve({}) }),
      each: await world.stack({ name: "each", program: () => Promise.resolve({ ids: oneOfEach() }) }),
    };
    for (const { stack } of [subjects.whole, subjects.empty]) await stack.up();
    const figures: Figure[] = [];
    for (const stacks of STACKS) {
      await fill(world.stage.cloudflare.account, stacks);
      // Only now, so that the account is filled with copies of the stack alone.
      await subjects.each.stack.up();
      for (const operation of OPERATIONS) {
        log(`measuring ${operation.name} with ${stacks} of 20 stacks in the account`);
        figures.push(...(await compare(subjects, operation, stacks, runs)));
      }
      await subjects.each.stack.destroy();
    }
    return figures;
  } finally {
    await world.close();
  }
}

async function compare(
  subjects: Subjects,
  { name, atMost }: (typeof OPERATIONS)[number],
  stacks: number,
  runs: number,
): Promise<Figure[]> {
  const times = { whole: [] as number[], empty: [] as number[], each: [] as number[] };
  // The first run of each fills the caches that all share.
  for (let run = -1; run < runs; run += 1) {
    for (const which of ["empty", "each", "whole"] as const) {
      const ms = await timed(() => subjects[which].stack[name]());
      if (run >= 0) times[which].push(ms);
    }
  }
  const what = name === "preview" ? "a preview of the serverless stack" : "an update without changes";
  const where = stacks === 1 ? "alone in its account" : `as one of ${stacks} in the account`;
  const against = (base: number) => times.whole.map((ms) => ms / base);
  const [empty, each] = [median(times.empty), median(times.each)];
  return [
    figure(`${what}, ${where}`, "ms", times.whole),
    // The median of these is the ratio of the two medians.
    figure(
      `${what}, ${where}, against a program without resources (${Math.round(empty)} ms)`,
      "ratio",
      against(empty),
    ),
    figure(
      `${what}, ${where}, against a program with one resource of each provider (${Math.round(each)} ms)`,
      "ratio",
      against(each),
      atMost,
    ),
  ];
}

/** A resource of each provider that the stack uses: the cloud's, a command, and one of the package's own. */
function oneOfEach(): pulumi.Output<string>[] {
  const bucket = new cloudflare.R2Bucket("bucket", { accountId: ACCOUNT, name: "bench" });
  return [
    bucket.id,
    new command.local.Command("command", { create: "true" }).id,
    new AttestationKey("own").id,
  ];
}

/** Fills the account with copies of the first stack's entries under other names, up to this many stacks. None runs. */
async function fill(account: AccountStore, stacks: number): Promise<void> {
  const first = account.state;
  await account.change((draft) => {
    for (let number = first.workers.length + 1; number <= stacks; number += 1) addStack(draft, first, number);
  });
}

function addStack(draft: AccountState, first: Readonly<AccountState>, number: number): void {
  const id = randomUUID();
  const namespaceId = randomUUID();
  const named = ({ name }: { name: string }) => ({ id: randomUUID(), name: `${name}-${number}` });
  for (const one of first.workers.slice(0, 1)) draft.workers.push({ ...one, ...named(one), id });
  for (const one of first.versions) draft.versions.push({ ...one, id: randomUUID(), workerId: id });
  for (const one of first.namespaces.slice(0, 1)) {
    draft.namespaces.push({ ...one, id: namespaceId, script: `${one.script}-${number}` });
  }
  for (const one of first.buckets) draft.buckets.push({ ...one, name: named(one).name });
  for (const one of first.applications) draft.applications.push({ ...one, ...named(one), namespaceId });
  for (const one of first.policies) draft.policies.push({ ...one, ...named(one) });
  for (const one of first.accessApplications) draft.accessApplications.push({ ...one, ...named(one) });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
